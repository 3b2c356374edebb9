#include "tests/definition/definition.h"

#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>

#include "tenon/support/deep_stack.h"
#include "tenon/te/operation_kind.h"
#include "tests/definition/number.h"

namespace tenon::testing {

using namespace tir;

namespace {

using Index = std::vector<std::int64_t>;
/// Axes, and what expressions bind.
using Bindings = std::unordered_map<const ExprNode*, Number>;
using Numbers = std::vector<Number>;

class Definition {
 public:
  Definition(const std::vector<TensorMemory>& tensors, const ScalarOf& scalar_of)
      : scalar_of_(scalar_of) {
    for (const TensorMemory& memory : tensors) {
      if (memory.tensor.op().as<te::Placeholder>())
        given_.emplace(memory.tensor.op().get(), memory);
      find_states(memory.tensor.op());
    }
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

  Numbers all(const std::vector<Expr>& exprs, Bindings& values) {
    Numbers result;
    for (const Expr& e : exprs) result.push_back(eval(e, values));
    return result;
  }

  Numbers reduce(const ReduceNode& reduction, Bindings& values) {
    const CommReducerNode& reducer = *reduction.combiner;
    Numbers sum = all(reduction.init.empty() ? reducer.identity : reduction.init, values);
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

  Number eval(const Expr& e, Bindings& values) {
    if (is_stack_low()) return with_deep_stack([&] { return eval(e, values); });
    const DataType type = e.dtype();
    if (type.lanes != 1) throw NoOpinion("vectors");
    return match(
        e.node().value,
        [&](const IntImm& n) {
          return Number::of(type == UInt(64) ? Whole{static_cast<std::uint64_t>(n.value)}
                                             : Whole{n.value});
        },
        [&](const FloatImm& n) { return rounded(n.value, type); },
        [&](const VarNode&) {
          if (const auto found = values.find(&e.node()); found != values.end())
            return found->second;
          const auto scalar = scalar_of_(Var::of(e));
          const std::int64_t* whole = std::get_if<std::int64_t>(&scalar);
          return whole ? wrapped(*whole, type) : rounded(std::get<double>(scalar), type);
        },
        [&](const Cast& n) { return converted(eval(n.value, values), n.value.dtype(), type); },
        [&](const Binary& n) {
          const Number a = eval(n.a, values);
          if (n.op == BinaryOp::And && a.whole == 0) return a;
          if (n.op == BinaryOp::Or && a.whole != 0) return a;
          return combined(n.op, a, eval(n.b, values), n.a.dtype());
        },
        [&](const Not& n) { return Number::of(eval(n.a, values).whole == 0); },
        [&](const Select& n) {
          return eval(eval(n.condition, values).whole != 0 ? n.if_true : n.if_false, values);
        },
        [&](const LetExpr& n) {
          values[&n.var.node()] = eval(n.value, values);
          return eval(n.body, values);
        },
        [&](const Call& n) { return call(n, type, values); },
        [&](const ProducerLoad& n) {
          Index index;
          for (const Expr& i : n.indices)
            index.push_back(static_cast<std::int64_t>(eval(i, values).whole));
          return at(te::Tensor::of(n), index);
        },
        [](const auto&) -> Number { throw NoOpinion("expressions that only loops have"); });
  }

  Number call(const Call& n, DataType type, Bindings& values) {
    const Intrin* intrin = std::get_if<Intrin>(&n.callee);
    if (!intrin) throw NoOpinion("extern functions");
    if (*intrin == Intrin::likely) return eval(n.args[0], values);
    if (*intrin == Intrin::if_then_else)
      return eval(n.args[eval(n.args[0], values).whole != 0 ? 1 : 2], values);
    const DataType of = n.args.at(0).dtype();
    return applied(*intrin, all(n.args, values), of, type);
  }

  const ScalarOf& scalar_of_;
  std::map<const te::OperationNode*, TensorMemory> given_;
  /// What a placeholder stands for in the steps of a scan.
  std::map<const te::OperationNode*, te::Tensor> states_;
  std::set<const te::OperationNode*> visited_;
  std::unordered_map<const te::OperationNode*, std::map<Index, Numbers>> known_;
};

/// The next index in row-major order; false behind the last.
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

Opinion against_definition(const std::vector<TensorMemory>& tensors, const ScalarOf& scalar_of) {
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
        if (same(expected, found, memory.tensor.dtype())) continue;
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
