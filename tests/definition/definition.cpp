#include "tests/definition/definition.h"

#include <limits>
#include <map>
#include <optional>
#include <unordered_map>

#include "tenon/support/deep_stack.h"
#include "tenon/te/operation_kind.h"
#include "tests/definition/expression_evaluator.h"

namespace tenon::testing {

using namespace tir;

using Index = Definition::Index;

namespace {

/// -inf for a maximum and +inf for a minimum of floats, whose printed identities are finite;
/// nullopt for other reducers.
std::optional<Number> identity_of_extreme(const CommReducerNode& reducer) {
  if (reducer.result.size() != 1 || !reducer.result[0].dtype().is_floating()) return std::nullopt;
  const Binary* binary = reducer.result[0].as<Binary>();
  if (!binary || (binary->op != BinaryOp::Max && binary->op != BinaryOp::Min)) return std::nullopt;
  const double infinity = std::numeric_limits<double>::infinity();
  return Number{0, binary->op == BinaryOp::Max ? -infinity : infinity};
}

}  // namespace

class Definition::Evaluator : private ExpressionEvaluator {
 public:
  Evaluator(const std::vector<TensorMemory>& tensors, ScalarOf scalar_of)
      : scalar_of_(std::move(scalar_of)) {
    for (const TensorMemory& memory : tensors) {
      if (memory.tensor.op().as<te::Placeholder>())
        given_.emplace(memory.tensor.op().get(), memory);
      find_states(memory.tensor.op());
    }
  }

  Number value(const Expr& e, std::span<const te::IterVar> axes, const Index& index) {
    Bindings values;
    for (std::size_t d = 0; d < index.size(); ++d)
      values[&axes[d].var().node()] = wrapped(index[d], axes[d].var().dtype());
    return eval(e, values);
  }

  Number at(const te::Tensor& tensor, const Index& index) {
    if (is_stack_low()) return with_deep_stack([&] { return at(tensor, index); });
    const te::Operation op = tensor.op();
    if (const auto state = states_.find(op.get()); state != states_.end())
      return at(state->second, index);
    if (op.as<te::Placeholder>()) return given(tensor, index);
    if (const te::Scan* scan = op.as<te::Scan>())
      return state_at(*scan, tensor.value_index(), index);
    const te::Compute* compute = op.as<te::Compute>();
    if (!compute) throw NoOpinion("extern operations and tensor intrinsics");
    std::map<Index, Numbers>& known = known_[op.get()];
    const auto [element, is_new] = known.try_emplace(index);
    if (is_new) {
      try {
        check_inside(tensor, index);
        element->second = compute_at(*compute, index);
      } catch (...) {
        known.erase(element);
        throw;
      }
    }
    if (element->second.empty()) throw NoOpinion("an element that depends on itself");
    return element->second[static_cast<std::size_t>(tensor.value_index())];
  }

 private:
  void find_states(const te::Operation& op) {
    if (!visited_.insert(op.get()).second) return;
    if (const te::Scan* scan = op.as<te::Scan>())
      for (std::size_t k = 0; k < scan->state.size(); ++k) {
        states_.emplace(scan->state[k].op().get(), op.output(static_cast<int>(k)));
        find_states(scan->init[k].op());
        find_states(scan->update[k].op());
      }
    for (const te::Tensor& input : op.inputs()) find_states(input.op());
  }

  Number given(const te::Tensor& tensor, const Index& index) const {
    const TensorMemory& memory = given_.at(tensor.op().get());
    std::int64_t place = 0;
    for (std::size_t d = 0; d < index.size(); ++d) {
      if (index[d] < 0 || index[d] >= memory.shape[d]) throw NoOpinion("a read outside a tensor");
      place = place * memory.shape[d] + index[d];
    }
    return element_of(memory.data, place, tensor.dtype());
  }

  Number state_at(const te::Scan& scan, int k, const Index& index) {
    const auto n = static_cast<std::size_t>(k);
    Bindings nothing;
    const Number steps = eval(scan.init[n].shape()[0], nothing);
    return at(index[0] < steps.whole ? scan.init[n] : scan.update[n], index);
  }

  void check_inside(const te::Tensor& tensor, const Index& index) {
    Bindings nothing;
    for (std::size_t d = 0; d < index.size(); ++d)
      if (index[d] < 0 || index[d] >= eval(tensor.shape()[d], nothing).whole)
        throw NoOpinion("a read outside a tensor");
  }

  Numbers compute_at(const te::Compute& compute, const Index& index) {
    Bindings values;
    for (std::size_t d = 0; d < index.size(); ++d)
      values[&compute.axis[d].var().node()] = Number::of(index[d]);
    if (const ReduceNode* reduction = compute.reduction()) return reduce(*reduction, values);
    Numbers result;
    for (const Expr& body : compute.body) result.push_back(eval(body, values));
    return result;
  }

  Numbers reduce(const ReduceNode& reduction, Bindings& values) {
    const CommReducerNode& reducer = *reduction.combiner;
    Numbers sum = all(reduction.init.empty() ? reducer.identity : reduction.init, values);
    if (const std::optional<Number> identity = identity_of_extreme(reducer);
        identity && reduction.init.empty())
      sum = {*identity};
    add_points(reduction, 0, values, sum);
    return sum;
  }

  void add_points(const ReduceNode& reduction, std::size_t axis, Bindings& values, Numbers& sum) {
    if (axis < reduction.axis.size()) {
      const Range& range = *reduction.axis[axis].dom();
      const Whole begin = eval(range.min, values).whole;
      const Whole end = begin + eval(range.extent, values).whole;
      for (Whole i = begin; i < end; ++i) {
        values[&reduction.axis[axis].var().node()] = Number::of(i);
        add_points(reduction, axis + 1, values, sum);
      }
      return;
    }
    if (eval(reduction.condition, values).whole == 0) return;
    const CommReducerNode& reducer = *reduction.combiner;
    const Numbers element = all(reduction.source, values);
    for (std::size_t k = 0; k < sum.size(); ++k) {
      values[&reducer.lhs[k].node()] = sum[k];
      values[&reducer.rhs[k].node()] = element[k];
    }
    sum = all(reducer.result, values);
  }

  Number load(const Expr& e, Bindings& values) override {
    const ProducerLoad* n = e.as<ProducerLoad>();
    if (!n) throw NoOpinion("expressions that only loops have");
    return at(te::Tensor::of(*n), indices(n->indices, values));
  }

  Number variable(const Var& var) override {
    const auto scalar = scalar_of_(var);
    const std::int64_t* whole = std::get_if<std::int64_t>(&scalar);
    return whole ? wrapped(*whole, var.dtype()) : rounded(std::get<double>(scalar), var.dtype());
  }

  ScalarOf scalar_of_;
  std::map<const te::OperationNode*, TensorMemory> given_;
  /// The state that a placeholder stands for in the steps of a scan.
  std::map<const te::OperationNode*, te::Tensor> states_;
  std::set<const te::OperationNode*> visited_;
  std::unordered_map<const te::OperationNode*, std::map<Index, Numbers>> known_;
};

Definition::Definition(const std::vector<TensorMemory>& tensors, ScalarOf scalar_of)
    : evaluator_(std::make_unique<Evaluator>(tensors, std::move(scalar_of))) {}
Definition::~Definition() = default;

Number Definition::at(const te::Tensor& tensor, const Index& index) {
  return evaluator_->at(tensor, index);
}

Number Definition::value(const Expr& e, std::span<const te::IterVar> axes, const Index& index) {
  return evaluator_->value(e, axes, index);
}

namespace {

/// Advances to the next index in row-major order; false after the last.
bool next(Index& index, const std::vector<std::int64_t>& shape) {
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

std::string text_of(const Index& index) {
  std::string text;
  for (const std::int64_t i : index) text += (text.empty() ? "[" : ", ") + std::to_string(i);
  return text.empty() ? "[]" : text + "]";
}

}  // namespace

Opinion against_definition(const std::vector<TensorMemory>& tensors, const ScalarOf& scalar_of,
                           Zeros zeros) {
  Definition definition(tensors, scalar_of);
  Opinion opinion;
  for (const TensorMemory& memory : tensors) {
    if (memory.tensor.op().as<te::Placeholder>()) continue;
    if (memory.tensor.dtype().lanes != 1) {
      opinion.unjudged.insert("vectors");
      continue;
    }
    if (std::ranges::find(memory.shape, 0) != memory.shape.end()) continue;
    Index index(memory.shape.size(), 0);
    std::int64_t place = 0;
    do {
      const Number found = element_of(memory.data, place++, memory.tensor.dtype());
      try {
        const Number expected = definition.at(memory.tensor, index);
        ++opinion.judged;
        if (same(expected, found, memory.tensor.dtype(), zeros)) continue;
        opinion.wrong = memory.tensor.name() + text_of(index) + " is " +
                        text_of(expected, memory.tensor.dtype()) + " by its definition, not " +
                        text_of(found, memory.tensor.dtype());
        return opinion;
      } catch (const NoOpinion& reason) {
        opinion.unjudged.insert(reason.what());
      }
    } while (next(index, memory.shape));
  }
  return opinion;
}

}  // namespace tenon::testing
