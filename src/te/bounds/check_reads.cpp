#include "tenon/te/check_reads.h"

#include <algorithm>
#include <functional>

#include "te/bounds/stage_needs.h"
#include "te/operations/declare.h"
#include "tenon/arith/index_terms.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/graph.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

using namespace tir;
using arith::Interval;

namespace {

/// The axes of a stage with their ranges: either all constant, or all as declared by the axes.
using Box = std::vector<std::pair<Var, Range>>;

/// Returns the minimum and maximum, both attained, of a linear combination of axes plus terms that
/// depend on no axis, or of its quotient by a positive constant. Nullopt for other indices, and if
/// a constant end exceeds int64.
std::optional<Interval> ends_of(const Expr& index, const Box& box) {
  if (const Binary* quotient = as_binary(index, BinaryOp::FloorDiv);
      quotient && constant_int(quotient->b).value_or(0) > 0) {
    const std::optional<Interval> ends = ends_of(quotient->a, box);
    if (!ends) return std::nullopt;
    return Interval::of(arith::simplify(floordiv(*ends->min(), quotient->b)),
                        arith::simplify(floordiv(*ends->max(), quotient->b)));
  }
  std::vector<std::int64_t> coefficients(box.size(), 0);
  std::optional<Expr> others;
  std::int64_t constant = 0;
  const DataType type = index.dtype();
  if (type != Int(32) && type != Int(64)) return std::nullopt;
  const auto fits = [&](std::int64_t value) {
    return type == Int(64) || std::in_range<std::int32_t>(value);
  };
  const auto axis_of = [&](const Expr& e) {
    return std::ranges::find_if(box, [&](const auto& axis) { return axis.first.same_as(e); });
  };
  const std::function<bool(const Expr&, std::int64_t)> add = [&](const Expr& term,
                                                                 std::int64_t coefficient) {
    if (const auto axis = axis_of(term); axis != box.end()) {
      std::int64_t& sum = coefficients[static_cast<std::size_t>(axis - box.begin())];
      return !__builtin_add_overflow(sum, coefficient, &sum);
    }
    if (const Cast* cast = term.as<Cast>();
        cast && term.dtype() == Int(64) && cast->value.dtype() == Int(32))
      return arith::for_each_term(cast->value, coefficient, constant, add);
    if (contains<ProducerLoad>(term) || !fits(coefficient) ||
        uses_var(term, [&](const Expr& used) { return axis_of(used) != box.end(); }))
      return false;
    const Expr scaled = term * make_int(type, coefficient);
    others = others ? *others + scaled : scaled;
    return true;
  };
  if (!arith::for_each_term(index, 1, constant, add)) return std::nullopt;
  const auto is_constant = [](const auto& axis) {
    return constant_int(axis.second.min) && constant_int(axis.second.extent);
  };
  if (!others && std::ranges::all_of(box, is_constant)) {
    arith::Reach reach(constant);
    for (std::size_t n = 0; n < coefficients.size(); ++n) {
      const std::int64_t first = *constant_int(box[n].second.min);
      reach.add(coefficients[n], first, first + *constant_int(box[n].second.extent) - 1);
    }
    if (!reach.min() || !reach.max()) return std::nullopt;
    const DataType of_ends = fits(*reach.min()) && fits(*reach.max()) ? type : Int(64);
    return Interval::of(make_int(of_ends, *reach.min()), make_int(of_ends, *reach.max()));
  }
  if (!fits(constant)) return std::nullopt;
  const Expr fixed = make_int(type, constant);
  Expr min = others ? *others + fixed : fixed, max = min;
  for (std::size_t n = 0; n < coefficients.size(); ++n) {
    const Range& range = box[n].second;
    if (coefficients[n] == 0) continue;
    if (!fits(coefficients[n])) return std::nullopt;
    const Expr factor = make_int(type, coefficients[n]);
    const Expr first = range.min * factor, last = (range.min + range.extent - 1) * factor;
    min = min + (coefficients[n] > 0 ? first : last);
    max = max + (coefficients[n] > 0 ? last : first);
  }
  return Interval::of(arith::simplify(min), arith::simplify(max));
}

class ReadChecker {
 public:
  /// `scan` is the scan that the operation updates, if it does. `need` is the condition under which
  /// the operation is computed; nullopt if it always is.
  ReadChecker(const StageGraph& graph, const Operation& op, std::optional<StageId> scan, Box box,
              Outside refused, const std::optional<Expr>& need,
              std::vector<ReadCondition>& conditions)
      : graph_(graph),
        op_(op),
        scan_(scan),
        box_(std::move(box)),
        refused_(refused),
        conditions_(conditions) {
    if (need) unread_ = !*need;
    for (const auto& [axis, range] : box_) {
      if (constant_int(range.extent)) continue;
      const Expr is_empty = wide(range.extent) <= 0;
      unread_ = unread_ ? *unread_ || is_empty : is_empty;
      scopes_.push_back(facts_.assume(range.extent >= 1));
    }
  }

  void visit(const Expr& e) {
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
  void visit(const ReduceNode& reduction) {
    for (const Expr& init : reduction.init) visit(init);
    visit(reduction.condition);
    if (constant_int(reduction.condition) != 1) return;
    for (const Expr& source : reduction.source) visit(source);
  }

  void check(const ProducerLoad& load) {
    if (scan_ && refused_ == Outside::Partly) check_step(load);
    if (is_inside_stage_) return;
    for (std::size_t dim = 0; dim < load.indices.size(); ++dim) {
      const std::optional<Interval> ends = ends_of(load.indices[dim], box_);
      if (!ends) continue;
      const Expr& extent = load.producer->shape()[dim];
      const auto min = constant_int(*ends->min()), max = constant_int(*ends->max()),
                 count = constant_int(extent);
      if (!min || !max || !count) {
        if (refused_ == Outside::Partly) check_sizes(load, dim, *ends);
      } else if (refused_ == Outside::Wholly ? *min >= *count || *max < 0
                                             : *min < 0 || *max >= *count) {
        throw BoundError(text(load, dim, *ends) + kAdvice, op_.where());
      }
    }
  }

  /// Refuses a read that is out of bounds for all sizes for which anything is read. If it is out of
  /// bounds for some of these sizes, adds the condition under which it is in bounds.
  void check_sizes(const ProducerLoad& load, std::size_t dim, const Interval& ends) {
    const Expr& extent = load.producer->shape()[dim];
    const Expr &min = *ends.min(), &max = *ends.max();
    if (can_prove(max >= extent) || can_prove(min < 0))
      throw BoundError(text(load, dim, ends) + kAdvice, op_.where());
    std::optional<Expr> inside;
    const auto require = [&](bool is_proved, const Expr& condition) {
      if (!is_proved) inside = inside ? *inside && condition : condition;
    };
    require(can_prove(min >= 0), wide(min) >= 0);
    // A sum of arguments that exceeds int64 is negative.
    require(can_prove(max >= 0), wide(max) >= 0);
    require(can_prove(max < extent), wide(max) < wide(extent));
    if (!inside) return;
    std::optional<Var> size;
    if (const Tensor read = Tensor::of(load); read.op().as<Placeholder>() && extent.as<VarNode>())
      size = Var::of(extent);
    add_condition(*inside, size, text(load, dim, ends));
  }

  void add_condition(Expr condition, const std::optional<Var>& size, const std::string& message) {
    if (unread_) condition = *unread_ || condition;
    const bool is_known = std::ranges::any_of(conditions_, [&](const ReadCondition& known) {
      return structural_equal(known.condition, condition) &&
             known.size.has_value() == size.has_value() && (!size || known.size->same_as(*size));
    });
    if (!is_known) conditions_.push_back({condition, size, message});
  }

  /// Checks that an update reads earlier steps of its scan's state, directly or through stages of
  /// the same step.
  void check_step(const ProducerLoad& load) {
    const std::optional<OutputId> read = graph_.find(Tensor::of(load));
    if (!read) return;
    std::vector<Expr> indices;
    for (const Expr& index : load.indices) indices.push_back(substitute(index, values_));
    const FrozenStage& stage = graph_.stage(read->stage);
    const Compute* compute = stage.op.as<Compute>();
    if (const std::optional<ScanPart> part = stage.scan_part(read->index)) {
      if (part->role == ScanPart::Role::State && part->state.stage == *scan_)
        require_earlier(indices.front(), load.producer->name());
    } else if (compute && is_in_step(read->stage) && stages_left_ > 0) {
      --stages_left_;
      VarMap outer = std::exchange(values_, {});
      for (std::size_t n = 0; n < indices.size(); ++n)
        set(values_, compute->axis[n].var(), indices[n]);
      const bool was_inside = std::exchange(is_inside_stage_, true);
      visit(compute->body[static_cast<std::size_t>(read->index)]);
      is_inside_stage_ = was_inside;
      values_ = std::move(outer);
    }
  }

  bool is_in_step(StageId stage) const {
    return std::ranges::any_of(graph_.attach_path(stage),
                               [&](const AttachPoint& loop) { return loop.stage == *scan_; });
  }

  void require_earlier(const Expr& step, const std::string& state) {
    const Var& time = op_.axis().front().var();
    const std::optional<Interval> ahead = ends_of(wide(step) - wide(time), box_);
    if (!ahead || can_prove(*ahead->max() < 0)) return;
    const std::string message =
        "compute `" + op_.name() + "` reads state `" + state + "` at step " + print_expr(step) +
        ", which is not computed yet at some steps; steps up to " + print_expr(time - 1) + " are";
    if (can_prove(*ahead->max() >= 0)) throw BoundError(message, op_.where());
    add_condition(*ahead->max() < 0, std::nullopt, message);
  }

  bool can_prove(const Expr& condition) const { return arith::can_prove(condition, facts_); }

  /// Returns the value of a position in int64, computed without wrapping.
  static Expr wide(const Expr& e) {
    if (const auto value = constant_int(e)) return make_int(Int(64), *value);
    if (const Cast* n = e.as<Cast>(); n && n->value.dtype() == Int(32)) return wide(n->value);
    if (const Binary* n = e.as<Binary>()) return make_binary(n->op, wide(n->a), wide(n->b));
    return cast(Int(64), e);
  }

  std::string text(const ProducerLoad& load, std::size_t dim, const Interval& ends) const {
    return "compute `" + op_.name() + "` reads tensor `" + load.producer->name() + "` at index " +
           std::to_string(dim) + " from " + plain_text(*ends.min()) + " to " +
           plain_text(*ends.max()) + ", but this dimension has " +
           print_expr(load.producer->shape()[dim]) + " elements";
  }

  static constexpr const char* kAdvice = "; read it under if_then_else, or change the shape";

  const StageGraph& graph_;
  const Operation& op_;
  const std::optional<StageId> scan_;
  const Box box_;
  const Outside refused_;
  std::vector<ReadCondition>& conditions_;
  /// The condition under which nothing is read, because no reader needs the operation or an axis
  /// has no points; nullopt if it is constant.
  std::optional<Expr> unread_;
  arith::Facts facts_;
  std::vector<arith::Facts::Scope> scopes_;
  /// Inside the body of a stage that an update reads: the values of that stage's axes.
  VarMap values_;
  bool is_inside_stage_ = false;
  /// The number of such bodies that may still be visited.
  int stages_left_ = 1000;
};

/// Returns the range of the axis as constants; nullopt if the range is not constant, or if it is
/// empty, so that nothing is read.
std::optional<Range> constant_range(const IterVar& axis, const Range& range) {
  const auto min = constant_int(range.min), extent = constant_int(range.extent);
  if (!min || !extent || *extent < 1) return std::nullopt;
  std::int64_t first = *min, last = *min + *extent - 1;
  // A range may exceed the axis's own domain. Points outside the domain are guarded and read
  // nothing.
  if (axis.dom()) {
    const auto begin = constant_int(axis.dom()->min), length = constant_int(axis.dom()->extent);
    if (!begin || !length) return std::nullopt;
    first = std::max(first, *begin);
    last = std::min(last, *begin + *length - 1);
  }
  if (first > last) return std::nullopt;
  const DataType type = range.min.dtype();
  return Range::from_min_extent(make_int(type, first), make_int(type, last - first + 1));
}

/// Returns the declared range of the axis; nullopt if the stage may run over a part of it only.
std::optional<Range> declared_range(const IterVar& axis, const Range& range) {
  const std::optional<Range>& dom = axis.dom();
  if (!dom || constant_int(range.extent) == 0 || !arith::can_prove(range.min == dom->min) ||
      !arith::can_prove(range.extent == dom->extent))
    return std::nullopt;
  return range;
}

/// Returns the iterations of an operation. The update of a scan runs over the scan's steps.
std::optional<Box> box_of(const Operation& op, const Scan* updated, const Bounds& bounds,
                          bool is_constant) {
  Box box;
  for (const IterVar& axis : op.root_iter_vars()) {
    const IterVar& loop = updated && box.empty() ? updated->scan_axis : axis;
    const Range* range = bounds.find(loop);
    if (!range) return std::nullopt;
    const auto known = is_constant ? constant_range(loop, *range) : declared_range(loop, *range);
    if (!known) return std::nullopt;
    box.emplace_back(axis.var(), *known);
  }
  return box;
}

}  // namespace

std::vector<ReadCondition> check_reads(const StageGraph& graph, const Bounds& bounds,
                                       Outside refused) {
  std::vector<ReadCondition> conditions;
  const std::vector<std::optional<Expr>> needs = needs_of(graph);
  for (StageId id : graph.ids()) {
    const FrozenStage& stage = graph.stage(id);
    if (const Scan* scan = stage.op.as<Scan>(); scan && refused == Outside::Partly) {
      const Expr &init = scan->init[0].shape()[0], &all = scan->state[0].shape()[0];
      if (!arith::can_prove(init <= all))
        conditions.push_back({init <= all, std::nullopt,
                              "scan `" + stage.op.name() + "`: its init covers " +
                                  print_expr(init) + " steps, but all steps are only " +
                                  print_expr(all)});
    }
    const Compute* compute = stage.op.as<Compute>();
    const std::optional<ScanPart> part = stage.scan_part(0);
    std::optional<StageId> scan;
    if (part && part->role == ScanPart::Role::Update) scan = part->state.stage;
    if (!compute || stage.store_predicate || !graph.attach_path(scan.value_or(id)).empty())
      continue;
    const Scan* updated = scan ? graph.stage(*scan).op.as<Scan>() : nullptr;
    std::optional<Box> box = box_of(stage.op, updated, bounds, true);
    // With symbolic sizes, no read is proved to be wholly out of bounds.
    if (!box && refused == Outside::Partly) box = box_of(stage.op, updated, bounds, false);
    if (!box) continue;
    ReadChecker checker(graph, stage.op, scan, std::move(*box), refused, needs[id.index()],
                        conditions);
    for (const Expr& body : compute->body) checker.visit(body);
  }
  return conditions;
}

}  // namespace tenon::te
