#include "tenon/te/infer_bound.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <ranges>
#include <set>
#include <sstream>

#include "te/bounds/bound_inference.h"
#include "te/bounds/lifted_threads.h"
#include "te/bounds/required_region.h"
#include "te/graph/thread_scope.h"
#include "te/operations/declare.h"
#include "te/relations/propagate.h"
#include "te/schedule/schedule_data.h"
#include "tenon/arith/const_bound.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/freeze.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;
using arith::can_prove;
using arith::Facts;
using arith::Interval;
using arith::simplify;
using arith::values_of;

namespace {

const std::string& name_of(const StageSpec& stage) { return stage.origin_op.name(); }

/// Returns every axis from which a thread-bound leaf derives.
AxisFlags find_thread_bound(const FrozenStage& stage) {
  std::vector<IterVar> bound;
  for (const auto& [axis, attributes] : stage.attributes) {
    if (attributes.thread && stage.has_leaf(axis)) bound.push_back(axis);
  }
  return bound.empty() ? AxisFlags() : sources_of(bound, stage.relations);
}

/// Rejects a region that overruns an axis beyond the index type: no guard protects the overrun
/// elements. `loops` has the values of the loops around the stage. Symbolic sizes are assumed not
/// to overflow, unless the axis itself nearly fills the type.
void check_overrun_fits(const FrozenStage& stage, const IterVar& axis, const Range& range,
                        const arith::IntervalMap& loops, const arith::Facts& facts) {
  const DataType type = axis.var().dtype();
  if (type.bits >= 64) return;
  const std::int64_t limit = (std::int64_t{1} << (type.bits - 1)) - 1;
  const auto is_limited = [&](const Var& var) {
    return arith::const_bound(var, facts).is_below(limit);
  };
  const Expr last = cast(Int(64), range.min) + cast(Int(64), range.extent) - 1;
  const std::optional<std::int64_t> most = arith::const_bound(last, facts).max;
  if (most && *most <= limit) return;
  const std::int64_t tile = constant_int(range.extent).value_or(limit / 2);
  const bool nearly_fills =
      axis.dom() && constant_int(axis.dom()->extent).value_or(0) > limit - tile;
  const Interval indices = values_of(last, loops, facts);
  const Expr& greatest = indices.is_bounded() ? *indices.max() : last;
  if (!nearly_fills && (!most || !std::ranges::all_of(free_vars(greatest), is_limited))) return;
  throw BoundError("round_up of axis `" + axis.name() + "` of stage `" + name_of(stage) +
                       "`: the last tile reaches index " +
                       (most ? std::to_string(*most) : print_expr(simplify(last, facts))) +
                       ", which an " + type.str() +
                       " does not hold; declare the size of the axis as int64",
                   stage.attach_where);
}

/// Returns the range, moved so that it is inside `whole` if it is provably no longer.
Range shifted_inwards(const Range& range, const Range& whole, const arith::Facts& facts) {
  if (!arith::can_prove(range.extent <= whole.extent, facts)) return range;
  const Expr last = whole.min + whole.extent - range.extent;
  return Range::from_min_extent(
      arith::simplify(tir::max(tir::min(range.min, last), whole.min), facts), range.extent);
}

}  // namespace

void BoundInference::run() {
  // Visits consumers first, since the requirements of a stage depend on the ranges of its readers.
  for (StageId id : graph_.ids() | std::views::reverse) infer(id);
  // The checks run last, because the number of threads is the maximum over all stages.
  for (StageId id : graph_.ids() | std::views::reverse) check_threads(graph_, id, ranges_, facts_);
  widen_lifted_threads();
}

void BoundInference::widen_lifted_threads() {
  if (threads_.empty()) return;
  const LiftedThreads lifted(graph_, ranges_);
  for (StageId id : graph_.ids()) {
    for (const IterVar& thread : lifted.around(id)) {
      if (thread.thread()->is_virtual()) continue;
      Range range =
          Range::from_min_extent(ranges_.at(thread).min, lifted.launched(id, thread, facts_));
      facts_.bind(thread.var(), range, /*replace=*/true);
      ranges_.set(thread, std::move(range));
    }
  }
}

bool BoundInference::has_varying_parts() {
  return std::ranges::any_of(graph_.ids(), [&](StageId id) {
    const FrozenStage& stage = graph_.stage(id);
    return stage.place && stage.op.as<Compute>() &&
           std::ranges::any_of(stage.op.axis(), [&](const IterVar& axis) {
             return constant_int(declared(axis).extent) && !constant_int(ranges_.at(axis).extent);
           });
  });
}

std::vector<IterVar> BoundInference::outgrown_axes() {
  std::vector<IterVar> outgrown;
  for (StageId id : graph_.ids()) {
    const Scan* scan = graph_.stage(id).op.as<Scan>();
    if (!scan) continue;
    for_each_space(*scan, [&](std::size_t k, std::size_t dim, const IterVar& axis) {
      const Range& kept = ranges_.at(axis);
      if (same_range(kept, declared(axis))) return;
      std::vector<Interval> touched;
      if (const std::optional<StageId> state = graph_.find(scan->state[k].op()))
        touched = needs_of_readers(*state, id).front()[dim];
      for (const Tensor& part : {scan->init[k], scan->update[k]}) {
        const std::vector<IterVar>& axes = graph_.stage(*graph_.find(part.op())).op.axis();
        touched.push_back(axes.empty() ? Interval::everything()
                                       : Interval::from_range(ranges_.at(axes[dim])));
      }
      const bool fits = std::ranges::all_of(touched, [&](const Interval& set) {
        return set.is_bounded() && arith::can_prove(kept.min <= *set.min(), facts_) &&
               arith::can_prove(*set.max() < kept.min + kept.extent, facts_);
      });
      if (!fits) outgrown.push_back(axis);
    });
  }
  return outgrown;
}

Bounds::Data BoundInference::bounds() {
  forget_fused_ranges();
  Bounds::Data bounds;
  for (StageId id : graph_.ids()) {
    bounds.stage_names.push_back(name_of(graph_.stage(id)));
    for (const IterVar& axis : axes_of(graph_.stage(id))) add(bounds, id, axis);
  }
  return bounds;
}

void BoundInference::infer(StageId id) {
  const FrozenStage& stage = graph_.stage(id);
  check_double_buffer(graph_, id);
  check_runs_in_step(id);
  infer_root_ranges(id);
  const AxisFlags keeps_extent = find_thread_bound(stage);
  pass_ranges_down(stage.relations, ranges_, facts_, &keeps_extent);
  if (tightness_ == Tightness::Clamped) find_constant_extents(stage);
  for (const IterVar& axis : axes_of(stage)) {
    if (const Range* range = ranges_.find(axis)) add_values(axis, *range);
  }
  for (const auto& [axis, attributes] : stage.attributes) {
    if (!attributes.thread || !ranges_.contains(axis)) continue;
    const Expr& extent = ranges_.at(axis).extent;
    const IterVar& thread = attributes.thread->axis;
    const Expr count = number_of_threads(stage, axis, *attributes.thread, extent);
    bind_thread(thread, count);
    // If another axis bound to the tag encloses the loop, that axis must start at least as many
    // threads.
    if (!thread.thread()->is_virtual() && is_divided(stage, axis, thread, stage.scope))
      for (const AttachPoint& loop : graph_.attach_path(id))
        for (const IterVar& around : threads_at(graph_, loop)) {
          if (around.thread() != thread.thread()) continue;
          bind_thread(around, count);
          // In a reduction across threads, all threads of the launch receive the total, even those
          // that contribute nothing.
          if (is_reduced_together(stage, axis)) bind_thread(thread, ranges_.at(around).extent);
        }
  }
  for (const IterVar& thread : stage.env_threads) {
    if (thread.dom()) bind_thread(thread, thread.dom()->extent);
  }
  if (stage.op.as<Compute>() || stage.op.as<TensorCompute>())
    reads_[id.index()] = collect_reads(stage.op);
}

void BoundInference::find_constant_extents(const FrozenStage& stage) {
  for (const IterVar& axis : axes_of(stage)) {
    const Range* range = ranges_.find(axis);
    if (!range || constant_int(range->extent)) continue;
    if (const auto only = only_value(range->extent, all_values_))
      set_root(axis, Range::from_min_extent(range->min, make_int(range->extent.dtype(), *only)));
  }
}

void BoundInference::infer_root_ranges(StageId id) {
  const FrozenStage& stage = graph_.stage(id);
  if (stage.op.root_iter_vars().empty()) {
    // An operation without axes computes one element and has no ranges to infer.
    if (!stage.op.as<Placeholder>())
      for (const StageId reader : graph_.readers(id)) check_is_seen(id, reader);
    return;
  }
  if (stage.is_output) {
    for (const IterVar& axis : stage.op.root_iter_vars()) set_root(axis, declared(axis));
    return;
  }
  if (const Scan* scan = stage.op.as<Scan>())
    return provide_scan(id, *scan, needs_of_readers(id, id));
  provide(stage, needs_of_readers(id, id));
  for (const Relation& relation : stage.relations)
    if (const Transform* layout = std::get_if<Transform>(&relation))
      for (const IterVar& axis : roots_beyond_inverse(*layout, stage.relations, ranges_, facts_))
        set_root(axis, declared(axis));
}

Range BoundInference::declared(const IterVar& axis) {
  if (!axis.dom()) internal_error("axis `" + axis.name() + "` of an operation has no range");
  return *axis.dom();
}

void BoundInference::set_root(const IterVar& axis, const Range& range) {
  ranges_.set(axis, in_type_of(axis, range, facts_));
  facts_.bind(axis.var(), ranges_.at(axis), /*replace=*/true);
}

Expr BoundInference::number_of_threads(const FrozenStage& stage, const IterVar& axis,
                                       const ThreadMark& thread, const Expr& extent) const {
  const std::optional<std::int64_t> known = constant_int(extent);
  if (known && !fits(*known, thread.axis.var().dtype()))
    throw BoundError("bind of axis `" + axis.name() + "` of stage `" + name_of(stage) +
                         "`: " + std::to_string(*known) + " are more threads than " +
                         thread.axis.var().dtype().str() + " counts; split the axis first",
                     thread.where);
  if (!uses_any(extent, all_values_)) return extent;
  const Interval values = values_of(extent, all_values_, facts_);
  if (values.max()) return simplify(*values.max(), facts_);
  throw BoundError(
      "bind of axis `" + axis.name() + "` of stage `" + name_of(stage) +
          "`: the number of threads varies with the loops around, and no upper bound of it is "
          "known",
      thread.where);
}

void BoundInference::bind_thread(const IterVar& thread, const Expr& extent) {
  // Launch at least one thread: even an empty reduction has to store its identity.
  const bool has_none = constant_int(extent).value_or(1) < 1;
  Expr greatest = has_none ? make_int(extent.dtype(), 1) : extent;
  if (const Range* known = ranges_.find(thread)) {
    if (provably_equal(known->extent, greatest) ||
        arith::can_prove(greatest <= known->extent, facts_))
      return;
    if (!arith::can_prove(known->extent <= greatest, facts_))
      greatest = max(known->extent, greatest);
  }
  Range range = Range::from_min_extent(make_int(thread.var().dtype(), 0),
                                       cast(thread.var().dtype(), greatest));
  facts_.bind(thread.var(), range, /*replace=*/true);
  add_values(thread, range);
  add_once(threads_, thread);
  ranges_.set(thread, std::move(range));
}

void BoundInference::check_stays_inside(const FrozenStage& stage, const IterVar& axis,
                                        const Range& bound,
                                        const std::vector<Interval>& sets) const {
  const Interval allowed = Interval::from_range(bound);
  const auto begins_by = [&](const Expr& least) {
    return arith::can_prove(*allowed.min() <= least, facts_);
  };
  const auto ends_after = [&](const Expr& greatest) {
    return arith::can_prove(greatest <= *allowed.max(), facts_);
  };
  // Unless the axis overruns, guards keep the readers from elements beyond its ends.
  const Interval all = Interval::from_range(declared(axis));
  const bool has_first = !stage.rounds_up(axis) && begins_by(*all.min()),
             has_last = !stage.rounds_up(axis) && ends_after(*all.max());
  for (const Interval& set : sets) {
    if (set.is_empty()) continue;
    const bool is_inside = (has_first || (set.min() && begins_by(*set.min()))) &&
                           (has_last || (set.max() && ends_after(*set.max())));
    if (is_inside) continue;
    throw BoundError(
        "bound of axis `" + axis.name() + "` of stage `" + name_of(stage) + "`: its readers need " +
            (set.is_bounded() ? print_expr(*set.min()) + " to " + print_expr(*set.max())
                              : std::string("any element")) +
            ", which does not provably lie in " + print_expr(*allowed.min()) + " to " +
            print_expr(*allowed.max()),
        stage.attributes_of(axis)->bound_where);
  }
}

void BoundInference::check_runs_in_step(StageId id) const {
  const FrozenStage& stage = graph_.stage(id);
  for (const AttachPoint& loop : graph_.attach_path(id)) {
    const Range& range = ranges_.at(loop.axis);
    if (constant_int(range.min) && constant_int(range.extent)) continue;
    const FrozenStage& outer = graph_.stage(loop.stage);
    const Range in_loops = range_in_loops(loop);
    for (const IterVar& leaf : outer.leaf_iter_vars) {
      const IterVar* thread = thread_of(outer, leaf);
      if (!thread || !is_shared_along(stage.scope, *thread->thread())) continue;
      if (!uses_var(in_loops.min, leaf.var()) && !uses_var(in_loops.extent, leaf.var())) continue;
      throw BoundError("compute_at of stage `" + name_of(stage) + "`: threads `" + thread->name() +
                           "` share its memory, but loop `" + loop.axis.name() + "` of stage `" +
                           name_of(outer) +
                           "` has a different trip count in each of them; keep it in local "
                           "memory, or compute it outside of that loop",
                       stage.attach_where);
    }
  }
}

void BoundInference::provide(const FrozenStage& stage, const std::vector<Needs>& needs) {
  const Operation& op = stage.op;
  for (std::size_t i = 0; i < op.axis().size(); ++i) {
    const IterVar& axis = op.axis()[i];
    // An intrinsic always writes all elements along these dimensions.
    if (i >= scheduled_axes(op).size()) {
      set_root(axis, declared(axis));
      continue;
    }
    std::vector<Interval> sets;
    for (const Needs& of_output : needs)
      sets.insert(sets.end(), of_output[i].begin(), of_output[i].end());
    if (const Range* bound = stage.bound_of(axis)) {
      check_stays_inside(stage, axis, *bound, sets);
      set_root(axis, *bound);
      continue;
    }
    if (stage.shifts_inwards(axis)) {
      set_root(axis, shifted_inwards(cover(sets, declared(axis), facts_), declared(axis), facts_));
      continue;
    }
    const bool rounds_up = stage.rounds_up(axis);
    set_root(axis, is_exact() && !rounds_up ? exact_cover(sets, declared(axis), facts_)
                                            : cover(sets, declared(axis), facts_));
    if (rounds_up) check_overrun_fits(stage, axis, ranges_.at(axis), all_values_, facts_);
  }
  for (const IterVar& axis : op.reduce_axis()) {
    const Range* bound = stage.bound_of(axis);
    set_root(axis, bound ? *bound : declared(axis));
  }
}

void BoundInference::provide_scan(StageId id, const Scan& scan, const std::vector<Needs>& needs) {
  std::vector<Interval> steps;
  for (const Needs& of_output : needs)
    steps.insert(steps.end(), of_output[0].begin(), of_output[0].end());
  const Range whole = declared(scan.scan_axis);
  const Range needed = cover(steps, whole, facts_);
  Expr count = simplify(needed.extent + needed.min - whole.min, nothing_);
  // If only initial states are required, no step runs. The initial states and their memory are then
  // computed in full.
  const bool is_whole = same_range(Range::from_min_extent(whole.min, count), whole);
  if (!is_whole && !arith::can_prove(count >= 0, facts_))
    count = simplify(tir::max(count, make_int(count.dtype(), 0)), facts_);
  set_root(scan.scan_axis, Range::from_min_extent(whole.min, count));
  const std::vector<IterVar> fixed = fixed_axes(graph_, id);
  for_each_space(scan, [&](std::size_t k, std::size_t dim, const IterVar& axis) {
    const bool is_part = contains(fixed, axis) && !whole_space_.value_or(axis, false);
    set_root(axis, is_part ? cover(needs[k][dim], declared(axis), facts_) : declared(axis));
  });
}

std::vector<IterVar> BoundInference::axes_of(const FrozenStage& stage) {
  std::vector<IterVar> axes = stage.op.root_iter_vars();
  for (const Relation& relation : stage.relations) {
    for (const IterVar& child : children_of(relation)) axes.push_back(child);
  }
  for (const auto& [axis, attributes] : stage.attributes) {
    if (attributes.thread) axes.push_back(attributes.thread->axis);
  }
  axes.insert(axes.end(), stage.env_threads.begin(), stage.env_threads.end());
  return axes;
}

void BoundInference::forget_fused_ranges() {
  for (StageId id : graph_.ids())
    for (const Relation& relation : graph_.stage(id).relations)
      if (const Fuse* fuse = std::get_if<Fuse>(&relation)) facts_.bind_bound(fuse->fused.var(), {});
}

void BoundInference::add(Bounds::Data& bounds, StageId id, const IterVar& axis) {
  const Range* range = ranges_.find(axis);
  if (!range || bounds.ranges.contains(axis)) return;
  const bool is_constant = constant_int(range->min) && constant_int(range->extent);
  // The originals of a layout transform keep their unsimplified ranges, so that later proofs about
  // the transform have the same results as those during inference.
  const bool is_mapped =
      std::ranges::any_of(graph_.stage(id).relations, [&](const Relation& relation) {
        const Transform* transform = std::get_if<Transform>(&relation);
        return transform && std::ranges::any_of(transform->originals, [&](const IterVar& original) {
                 return original.same_as(axis);
               });
      });
  const Range simple = is_constant || is_mapped ? *range : simplify(*range, facts_);
  bounds.ranges.set(axis, simple);
  bounds.entries.push_back({id, axis, simple});
}

namespace {

/// Infers the bounds and passes them to `show`. The inference is repeated in two cases. If a step
/// of a scan touches elements outside the assumed part of an axis, the whole axis is computed. If
/// exact bounds contain regions of varying extent, Clamped replaces Exact.
void with_inferred(const StageGraph& graph, Tightness tightness,
                   const std::function<void(BoundInference&)>& show) {
  // The axes of scans that are computed in full, because overshooting loops touch more of the state
  // than its readers require.
  AxisFlags whole_space;
  while (true) {
    BoundInference inference(graph, whole_space, tightness);
    inference.run();
    if (tightness == Tightness::Exact && inference.has_varying_parts()) {
      tightness = Tightness::Clamped;
      continue;
    }
    const std::vector<IterVar> outgrown = inference.outgrown_axes();
    if (outgrown.empty()) return show(inference);
    for (const IterVar& axis : outgrown) whole_space.set(axis, true);
  }
}

Bounds::Data infer(const StageGraph& graph, Tightness tightness) {
  Bounds::Data bounds;
  with_inferred(graph, tightness, [&](BoundInference& inference) { bounds = inference.bounds(); });
  return bounds;
}

Bounds shared(Bounds::Data bounds) {
  return Bounds(std::make_shared<const Bounds::Data>(std::move(bounds)));
}

}  // namespace

Bounds infer_bound(const StageGraph& graph) { return shared(infer(graph, Tightness::Known)); }
Bounds infer_exact_bound(const StageGraph& graph) { return shared(infer(graph, Tightness::Exact)); }

Bounds infer_bound(const Schedule& schedule, SourceLocation where) {
  auto graph = std::make_shared<const StageGraph>(freeze(schedule, where));
  Bounds::Data bounds = infer(*graph, Tightness::Known);
  bounds.graph = std::move(graph);
  bounds.schedule = schedule;
  bounds.version = schedule.data().version;
  return shared(std::move(bounds));
}

// Queries on bounds, and their text.

const AxisMap<Range>& Bounds::ranges() const { return data_->ranges; }
const std::vector<Bounds::Entry>& Bounds::entries() const { return data_->entries; }
const StageGraph* Bounds::graph() const { return data_->graph.get(); }
bool Bounds::are_of(const Schedule& schedule) const {
  return data_->schedule && &data_->schedule->data() == &schedule.data() &&
         data_->version == schedule.data().version;
}

const Range* Bounds::find(const IterVar& axis) const { return ranges().find(axis); }

const Range& Bounds::operator[](const IterVar& axis) const {
  if (const Range* range = find(axis)) return *range;
  throw BoundError("axis `" + axis.name() + "` does not belong to the schedule: it has no bounds");
}

std::ostream& operator<<(std::ostream& out, const Bounds& bounds) {
  std::size_t stage_width = 5, axis_width = 4;
  for (const std::string& name : bounds.data().stage_names)
    stage_width = std::max(stage_width, name.size());
  for (const Bounds::Entry& entry : bounds.entries())
    axis_width = std::max(axis_width, entry.axis.name().size());
  // The rows printed so far. An axis that starts at 0 and its rebased axis have the same text and
  // share one row.
  std::set<std::array<std::string, 3>> printed;
  auto row = [&](const std::string& stage, const std::string& axis, const std::string& range) {
    if (!printed.insert({stage, axis, range}).second) return;
    out << std::left << std::setw(static_cast<int>(stage_width) + 2) << stage
        << std::setw(static_cast<int>(axis_width) + 2) << axis << range << '\n';
  };
  row("stage", "axis", "range");
  for (const Bounds::Entry& entry : bounds.entries()) {
    const std::string range =
        "[" + print_expr(entry.range.min) + ", +" + print_expr(entry.range.extent) + ")";
    row(bounds.data().stage_names[entry.stage.index()], entry.axis.name(), range);
  }
  return out;
}

namespace {

using Part = std::pair<StageId, Interval>;

bool reaches(const std::optional<Expr>& end, const std::optional<Expr>& all, bool is_max,
             const Facts& facts) {
  if (!end || !all) return !end;
  return can_prove(is_max ? *end >= *all : *end <= *all, facts);
}

/// Returns the readers that determine the ends of `all`: one reader if it reaches both ends,
/// otherwise one reader for each end. Returns all readers if this cannot be proved.
std::vector<StageId> deciding(const std::vector<Part>& parts, const Interval& all,
                              const Facts& facts) {
  std::vector<StageId> at_min, at_max;
  for (const auto& [reader, part] : parts) {
    const bool is_at_min = reaches(part.min(), all.min(), false, facts);
    const bool is_at_max = reaches(part.max(), all.max(), true, facts);
    if (is_at_min && is_at_max) return {reader};
    if (is_at_min) at_min.push_back(reader);
    if (is_at_max) at_max.push_back(reader);
  }
  std::set<StageId> result;
  if (!at_min.empty() && !at_max.empty()) {
    result = {at_min.front(), at_max.front()};
  } else {
    for (const auto& [reader, part] : parts) result.insert(reader);
  }
  return {result.begin(), result.end()};
}

RequiredBox whole_shape(const Tensor& tensor) {
  RequiredBox box;
  for (const Expr& extent : tensor.shape()) box.push_back({Range(0, extent), {}});
  return box;
}

}  // namespace

RequiredBox BoundInference::required_of(StageId id, std::span<const Tensor> outputs) {
  const std::vector<std::vector<StageId>>& readers = graph_.output_readers(id);
  std::vector<std::vector<Part>> parts(outputs.front().shape().size());
  for (const Tensor& tensor : outputs)
    for (const StageId reader : readers[static_cast<std::size_t>(tensor.value_index())]) {
      Needs needs(parts.size());
      add_needs_of(reader, id, tensor, needs);
      for (std::size_t dim = 0; dim < parts.size(); ++dim)
        if (!needs[dim].empty()) parts[dim].emplace_back(reader, arith::hull(needs[dim], facts_));
    }
  RequiredBox box = whole_shape(outputs.front());
  for (std::size_t dim = 0; dim < parts.size(); ++dim) {
    if (parts[dim].empty()) continue;
    std::vector<Interval> sets;
    for (const auto& [reader, part] : parts[dim]) sets.push_back(part);
    const Interval all = arith::hull(sets, facts_);
    box[dim] = {arith::simplify(all.to_range(box[dim].range, facts_), facts_),
                deciding(parts[dim], all, facts_)};
  }
  return box;
}

std::vector<RequiredBox> BoundInference::required(StageId id) {
  const FrozenStage& stage = graph_.stage(id);
  const std::vector<Tensor> outputs = outputs_of(stage.op);
  std::vector<RequiredBox> boxes;
  for (const Tensor& output : outputs)
    boxes.push_back(stage.is_output          ? whole_shape(output)
                    : stage.op.as<Compute>() ? required_of(id, outputs)
                                             : required_of(id, {&output, 1}));
  return boxes;
}

std::vector<std::vector<RequiredBox>> required_boxes(const StageGraph& graph, bool exact) {
  std::vector<std::vector<RequiredBox>> boxes;
  with_inferred(graph, exact ? Tightness::Exact : Tightness::Known, [&](BoundInference& inference) {
    for (const StageId id : graph.ids()) boxes.push_back(inference.required(id));
  });
  return boxes;
}

}  // namespace tenon::te
