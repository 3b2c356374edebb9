#include "tenon/te/check_reads.h"

#include <algorithm>

#include "te/bounds/stage_needs.h"
#include "tenon/arith/iteration_box.h"
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

class ReadChecker {
 public:
  /// `scan` is the scan that the operation updates; nullopt if the operation is not an update.
  /// `need` is the condition under which the operation is computed; nullopt if it is always
  /// computed.
  ReadChecker(const StageGraph& graph, const Operation& op, std::optional<StageId> scan,
              arith::IterationBox::Loops loops, Outside refused, const std::optional<Expr>& need,
              std::vector<arith::SizeCondition>& conditions)
      : graph_(graph),
        op_(op),
        scan_(scan),
        box_(std::move(loops)),
        refused_(refused),
        conditions_(conditions) {
    if (need) unread_ = !*need;
  }

  void visit(const Expr& e) {
    if (const ProducerLoad* load = e.as<ProducerLoad>()) check(*load);
    // A read under a condition may never happen.
    for_each_operand(
        e, [&](const Expr& operand) { visit(operand); },
        [&](const Expr& condition, const Expr& operand) {
          if (is_true(condition)) visit(operand);
        });
  }

 private:
  void check(const ProducerLoad& load) {
    if (scan_ && refused_ == Outside::Partly) check_step(load);
    if (is_inside_stage_) return;
    for (std::size_t dim = 0; dim < load.indices.size(); ++dim) {
      const std::optional<Interval> ends = box_.ends_of(load.indices[dim]);
      const Expr& extent = load.producer->shape()[dim];
      if (refused_ == Outside::Partly) {
        check_partly(load, dim, ends);
      } else if (!ends) {
        continue;
      } else if (const auto min = constant_int(*ends->min()), max = constant_int(*ends->max()),
                 count = constant_int(extent);
                 min && max && count && (*min >= *count || *max < 0)) {
        throw BoundError(text(load, dim, ends) + kAdvice, op_.where());
      }
    }
  }

  /// Throws if the read is always out of bounds. If the read is in bounds for some sizes only, adds
  /// the condition on these sizes.
  void check_partly(const ProducerLoad& load, std::size_t dim,
                    const std::optional<Interval>& ends) {
    const Expr& extent = load.producer->shape()[dim];
    const Expr inside = box_.inside(ends, extent);
    if (is_zero(inside)) throw BoundError(text(load, dim, ends) + kAdvice, op_.where());
    if (is_true(inside)) return;
    std::optional<Var> size;
    if (const Tensor read = Tensor::of(load); read.op().as<Placeholder>() && extent.as<VarNode>())
      size = Var::of(extent);
    add_condition(inside, size, text(load, dim, ends));
  }

  void add_condition(const Expr& condition, const std::optional<Var>& size, std::string message) {
    arith::add_condition(conditions_,
                         {unread_ ? *unread_ || condition : condition, size, std::move(message)});
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
    const std::optional<Interval> ahead =
        box_.ends_of(arith::wide_position(step) - arith::wide_position(time));
    if (!ahead || box_.can_prove(*ahead->max() < 0)) return;
    const std::string message =
        "compute `" + op_.name() + "` reads state `" + state + "` at step " + print_expr(step) +
        ", which is not computed yet at some steps; steps up to " + print_expr(time - 1) + " are";
    if (box_.can_prove(*ahead->max() >= 0)) throw BoundError(message, op_.where());
    add_condition(box_.or_empty(*ahead->max() < 0), std::nullopt, message);
  }

  std::string text(const ProducerLoad& load, std::size_t dim,
                   const std::optional<Interval>& ends) const {
    return "compute `" + op_.name() + "` reads tensor `" + load.producer->name() + "` " +
           arith::outside_text(dim, ends, load.producer->shape()[dim]);
  }

  static constexpr const char* kAdvice = "; read it under if_then_else, or change the shape";

  const StageGraph& graph_;
  const Operation& op_;
  const std::optional<StageId> scan_;
  const arith::IterationBox box_;
  const Outside refused_;
  std::vector<arith::SizeCondition>& conditions_;
  /// The condition under which no reader needs the operation; nullopt if the operation is always
  /// needed.
  std::optional<Expr> unread_;
  /// The values of the axes of the stage whose body is being visited. Empty for the update itself.
  VarMap values_;
  bool is_inside_stage_ = false;
  /// The maximum number of further stages whose bodies are visited.
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

/// Returns the declared range of the axis; nullopt if the stage may compute only a part of this
/// range.
std::optional<Range> declared_range(const IterVar& axis, const Range& range) {
  const std::optional<Range>& dom = axis.dom();
  if (!dom || constant_int(range.extent) == 0 || !arith::can_prove(range.min == dom->min) ||
      !arith::can_prove(range.extent == dom->extent))
    return std::nullopt;
  return range;
}

/// Returns the iterations of an operation. The update of a scan runs over the scan's steps.
std::optional<arith::IterationBox::Loops> loops_of(const Operation& op, const Scan* updated,
                                                   const Bounds& bounds, bool is_constant) {
  arith::IterationBox::Loops loops;
  for (const IterVar& axis : op.root_iter_vars()) {
    const IterVar& loop = updated && loops.empty() ? updated->scan_axis : axis;
    const Range* range = bounds.find(loop);
    if (!range) return std::nullopt;
    const auto known = is_constant ? constant_range(loop, *range) : declared_range(loop, *range);
    if (!known) return std::nullopt;
    loops.emplace_back(axis.var(), *known);
  }
  return loops;
}

}  // namespace

std::vector<arith::SizeCondition> check_reads(const StageGraph& graph, const Bounds& bounds,
                                              Outside refused) {
  std::vector<arith::SizeCondition> conditions;
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
    std::optional<arith::IterationBox::Loops> loops = loops_of(stage.op, updated, bounds, true);
    // Constant ranges are required to prove that a read is wholly out of bounds. A check for reads
    // that are partly out of bounds also uses symbolic ranges.
    if (!loops && refused == Outside::Partly) loops = loops_of(stage.op, updated, bounds, false);
    if (!loops) continue;
    ReadChecker checker(graph, stage.op, scan, std::move(*loops), refused, needs[id.index()],
                        conditions);
    for (const Expr& body : compute->body) checker.visit(body);
  }
  return conditions;
}

}  // namespace tenon::te
