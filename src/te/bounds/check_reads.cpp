#include "tenon/te/check_reads.h"

#include <algorithm>

#include "tenon/arith/index_terms.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/graph.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;

namespace {

struct ValueRange {
  std::int64_t min, max;
};

/// Constant ranges of the axes of a stage.
struct Box {
  std::vector<Var> vars;
  std::vector<ValueRange> values;
};

/// Returns the minimum and maximum of a linear combination of axes over the box; both are attained.
/// Nullopt for other indices, and if a value exceeds int64.
std::optional<ValueRange> ends_of(const Expr& index, const Box& box) {
  std::vector<std::int64_t> coefficients(box.vars.size(), 0);
  std::int64_t constant = 0;
  const bool is_sum =
      arith::for_each_term(index, 1, constant, [&](const Expr& term, std::int64_t coefficient) {
        const auto var = std::find_if(box.vars.begin(), box.vars.end(),
                                      [&](const Var& v) { return v.same_as(term); });
        if (var == box.vars.end()) return false;
        std::int64_t& sum = coefficients[static_cast<std::size_t>(var - box.vars.begin())];
        return !__builtin_add_overflow(sum, coefficient, &sum);
      });
  if (!is_sum) return std::nullopt;
  arith::Reach reach(constant);
  for (std::size_t n = 0; n < coefficients.size(); ++n)
    reach.add(coefficients[n], box.values[n].min, box.values[n].max);
  if (!reach.min() || !reach.max()) return std::nullopt;
  return ValueRange{*reach.min(), *reach.max()};
}

/// Symbolic ranges of the axes of a stage.
struct SymbolicBox {
  std::vector<Var> vars;
  std::vector<Range> ranges;
};

struct SymbolicValues {
  Expr min, max;
};

/// Returns the symbolic minimum and maximum of a linear combination of axes plus axis-independent
/// terms.
std::optional<SymbolicValues> ends_of(const Expr& index, const SymbolicBox& box) {
  std::vector<std::int64_t> coefficients(box.vars.size(), 0);
  Expr fixed = make_int(index.dtype(), 0);
  std::int64_t constant = 0;
  const auto is_axis = [&](const Expr& e) {
    return std::ranges::find_if(box.vars, [&](const Var& v) { return v.same_as(e); });
  };
  const bool is_sum =
      arith::for_each_term(index, 1, constant, [&](const Expr& term, std::int64_t coefficient) {
        const auto var = is_axis(term);
        if (var != box.vars.end()) {
          std::int64_t& sum = coefficients[static_cast<std::size_t>(var - box.vars.begin())];
          return !__builtin_add_overflow(sum, coefficient, &sum);
        }
        for (const Var& used : free_vars(term))
          if (is_axis(used) != box.vars.end()) return false;
        bool reads = false;
        walk(term, [&](const ProducerLoad&) { reads = true; });
        fixed = fixed + term * make_int(term.dtype(), coefficient);
        return !reads && term.dtype() == index.dtype();
      });
  if (!is_sum) return std::nullopt;
  Expr least = fixed + make_int(index.dtype(), constant), greatest = least;
  for (std::size_t n = 0; n < coefficients.size(); ++n) {
    const Range& range = box.ranges[n];
    const Expr factor = make_int(index.dtype(), coefficients[n]);
    if (coefficients[n] == 0) continue;
    if (range.min.dtype() != index.dtype()) return std::nullopt;
    const Expr first = range.min * factor, last = (range.min + range.extent - 1) * factor;
    least = least + (coefficients[n] > 0 ? first : last);
    greatest = greatest + (coefficients[n] > 0 ? last : first);
  }
  return SymbolicValues{arith::simplify(least), arith::simplify(greatest)};
}

class ReadChecker {
 public:
  ReadChecker(const Operation& op, std::optional<Box> box, SymbolicBox symbolic, Outside refused)
      : op_(op), box_(std::move(box)), symbolic_(std::move(symbolic)), refused_(refused) {}

  void visit(const Expr& e) const {
    if (const ProducerLoad* load = e.as<ProducerLoad>()) check(*load);
    // A read under a condition may never happen.
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
      if (!box_ || !extent) {
        check_symbolic(load, dim);
        continue;
      }
      const std::optional<ValueRange> ends = ends_of(load.indices[dim], *box_);
      if (ends && !is_fine(*ends, *extent))
        refuse(load, dim, std::to_string(ends->min), std::to_string(ends->max));
    }
  }

  /// Checks whether a read is out of bounds for all sizes for which anything is read.
  void check_symbolic(const ProducerLoad& load, std::size_t dim) const {
    if (refused_ == Outside::Wholly) return;
    const Expr& extent = load.producer->shape()[dim];
    const std::optional<SymbolicValues> ends = ends_of(load.indices[dim], symbolic_);
    if (!ends || ends->max.dtype() != extent.dtype()) return;
    if (arith::can_prove(ends->max >= extent) || arith::can_prove(ends->min < 0))
      refuse(load, dim, print_expr(ends->min), print_expr(ends->max));
  }

  [[noreturn]] void refuse(const ProducerLoad& load, std::size_t dim, const std::string& first,
                           const std::string& last) const {
    throw BoundError("compute `" + op_.name() + "` reads tensor `" + load.producer->name() +
                         "` at index " + std::to_string(dim) + " from " + first + " to " + last +
                         ", but this dimension has " + print_expr(load.producer->shape()[dim]) +
                         " elements; read it under if_then_else, or change the shape",
                     op_.where());
  }

  bool is_fine(const ValueRange& ends, std::int64_t extent) const {
    if (refused_ == Outside::Wholly) return ends.min < extent && ends.max >= 0;
    return ends.min >= 0 && ends.max < extent;
  }

  const Operation& op_;
  const std::optional<Box> box_;
  const SymbolicBox symbolic_;
  const Outside refused_;
};

/// Returns the ranges; nullopt if one is not constant, or is empty so that nothing is read.
std::optional<Box> box_of(const Operation& op, const Bounds& bounds) {
  Box box;
  for (const IterVar& axis : op.root_iter_vars()) {
    const Range* range = bounds.find(axis);
    if (!range) return std::nullopt;
    const std::optional<std::int64_t> min = constant_int(range->min),
                                      extent = constant_int(range->extent);
    if (!min || !extent || *extent < 1) return std::nullopt;
    ValueRange values{*min, *min + *extent - 1};
    // A range may exceed the axis's own domain. Points outside the domain are guarded and read
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

/// Returns the ranges; nullopt if the stage may run over less than the declared ranges of its axes.
std::optional<SymbolicBox> symbolic_box_of(const Operation& op, const Bounds& bounds) {
  SymbolicBox box;
  for (const IterVar& axis : op.root_iter_vars()) {
    const Range* range = bounds.find(axis);
    if (!range || !axis.dom() || constant_int(range->extent) == 0) return std::nullopt;
    if (!arith::can_prove(range->min == axis.dom()->min) ||
        !arith::can_prove(range->extent == axis.dom()->extent))
      return std::nullopt;
    box.vars.push_back(axis.var());
    box.ranges.push_back(*range);
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
    // With symbolic sizes, a read can be proved only partly out of bounds, so the check is skipped
    // if only reads wholly out of bounds are rejected.
    const std::optional<SymbolicBox> symbolic =
        refused == Outside::Wholly ? std::nullopt : symbolic_box_of(stage.op, bounds);
    if (!box && !symbolic) continue;
    const ReadChecker checker(stage.op, box, symbolic.value_or(SymbolicBox{}), refused);
    for (const Expr& body : compute->body) checker.visit(body);
  }
}

}  // namespace tenon::te
