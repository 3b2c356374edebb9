#include "tenon/te/check_reads.h"

#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

struct Values {
  std::int64_t min, max;
};

/// What the axes of a stage run over.
struct Box {
  std::vector<Var> vars;
  std::vector<Values> values;
};

/// constant + the sum of coefficients[n] * box.vars[n].
struct Affine {
  std::int64_t constant = 0;
  std::vector<std::int64_t> coefficients;

  void add(const Affine& other, std::int64_t factor) {
    constant += factor * other.constant;
    for (std::size_t n = 0; n < coefficients.size(); ++n)
      coefficients[n] += factor * other.coefficients[n];
  }
};

std::optional<Affine> affine_form(const Expr& e, const Box& box) {
  Affine result{0, std::vector<std::int64_t>(box.vars.size(), 0)};
  if (const auto value = constant_int(e)) {
    result.constant = *value;
    return result;
  }
  for (std::size_t n = 0; n < box.vars.size(); ++n) {
    if (!box.vars[n].same_as(e)) continue;
    result.coefficients[n] = 1;
    return result;
  }
  const Binary* binary = e.as<Binary>();
  if (!binary) return std::nullopt;
  const std::optional<Affine> a = affine_form(binary->a, box), b = affine_form(binary->b, box);
  if (!a || !b) return std::nullopt;
  switch (binary->op) {
    case BinaryOp::Add:
      result.add(*a, 1);
      result.add(*b, 1);
      return result;
    case BinaryOp::Sub:
      result.add(*a, 1);
      result.add(*b, -1);
      return result;
    case BinaryOp::Mul:
      if (const auto factor = constant_int(binary->b)) return result.add(*a, *factor), result;
      if (const auto factor = constant_int(binary->a)) return result.add(*b, *factor), result;
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

/// The least and the greatest value: an affine form takes both somewhere in the box.
Values ends_of(const Affine& form, const Box& box) {
  Values ends{form.constant, form.constant};
  for (std::size_t n = 0; n < box.values.size(); ++n) {
    const std::int64_t first = form.coefficients[n] * box.values[n].min;
    const std::int64_t last = form.coefficients[n] * box.values[n].max;
    ends.min += std::min(first, last);
    ends.max += std::max(first, last);
  }
  return ends;
}

class ReadChecker {
 public:
  ReadChecker(const Operation& op, Box box, Outside refused)
      : op_(op), box_(std::move(box)), refused_(refused) {}

  void visit(const Expr& e) const {
    if (const ProducerLoad* load = e.as<ProducerLoad>()) check(*load);
    // Under a condition a read may never happen.
    if (const Select* select = e.as<Select>()) return visit(select->condition);
    if (const Call* call = e.as<Call>(); call && call->is(Intrin::if_then_else))
      return visit(call->args[0]);
    if (const Binary* binary = e.as<Binary>();
        binary && (binary->op == BinaryOp::And || binary->op == BinaryOp::Or))
      return visit(binary->a);
    if (const Reduce* reduce = e.as<Reduce>()) return visit(*reduce->reduction);
    for_each_child(e, [&](const Expr& child) { visit(child); });
  }

 private:
  void visit(const ReduceNode& reduction) const {
    for (const Expr& init : reduction.init) visit(init);
    visit(reduction.condition);
    if (constant_int(reduction.condition) != 1) return;
    for (const Expr& source : reduction.source) visit(source);
  }

  void check(const ProducerLoad& load) const {
    const std::vector<Expr>& shape = load.producer->shape();
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      const std::optional<std::int64_t> extent = constant_int(shape[dim]);
      const std::optional<Affine> form = affine_form(load.indices[dim], box_);
      if (!extent || !form) continue;
      const Values ends = ends_of(*form, box_);
      if (is_fine(ends, *extent)) continue;
      throw BoundError("compute `" + op_.name() + "` reads tensor `" + load.producer->name() +
                           "` at index " + std::to_string(dim) + " from " +
                           std::to_string(ends.min) + " to " + std::to_string(ends.max) +
                           ", but this dimension has " + std::to_string(*extent) +
                           " elements; read it under if_then_else, or change the shape",
                       op_.where());
    }
  }

  bool is_fine(const Values& ends, std::int64_t extent) const {
    if (refused_ == Outside::Wholly) return ends.min < extent && ends.max >= 0;
    return ends.min >= 0 && ends.max < extent;
  }

  const Operation& op_;
  const Box box_;
  const Outside refused_;
};

/// Nullopt where a range is no constant, or empty: then nothing is read.
std::optional<Box> box_of(const Operation& op, const Bounds& bounds) {
  Box box;
  for (const IterVar& axis : op.root_iter_vars()) {
    const Range* range = bounds.find(axis);
    if (!range) return std::nullopt;
    const std::optional<std::int64_t> min = constant_int(range->min),
                                      extent = constant_int(range->extent);
    if (!min || !extent || *extent < 1) return std::nullopt;
    Values values{*min, *min + *extent - 1};
    // A range may reach beyond the axis' own domain; the points there are guarded, and read
    // nothing.
    if (axis.dom()) {
      const std::optional<std::int64_t> first = constant_int(axis.dom()->min);
      const std::optional<std::int64_t> length = constant_int(axis.dom()->extent);
      if (!first || !length) return std::nullopt;
      values = {std::max(values.min, *first), std::min(values.max, *first + *length - 1)};
    }
    if (values.min > values.max) return std::nullopt;
    box.vars.push_back(axis.var());
    box.values.push_back(values);
  }
  return box;
}

}  // namespace

void check_reads(const StageGraph& graph, const Bounds& bounds, Outside refused) {
  for (StageId id : graph.ids()) {
    const FrozenStage& stage = graph.stage(id);
    const Compute* compute = stage.op.as<Compute>();
    if (!compute || stage.store_predicate || !graph.attach_path(id).empty()) continue;
    const std::optional<Box> box = box_of(stage.op, bounds);
    if (!box) continue;
    const ReadChecker checker(stage.op, *box, refused);
    for (const Expr& body : compute->body) checker.visit(body);
  }
}

}  // namespace tenon::te
