#include "tenon/te/infer_bound.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <ranges>
#include <set>
#include <sstream>

#include "te/bounds/cover.h"
#include "te/bounds/required_region.h"
#include "te/bounds/thread_checks.h"
#include "te/graph/scan_axes.h"
#include "te/graph/thread_scope.h"
#include "te/relations/propagate.h"
#include "tenon/arith/simplify.h"
#include "tenon/te/freeze.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;
using arith::Facts;
using arith::Interval;
using arith::IntervalMap;
using arith::simplify;
using arith::values_of;

namespace {

const std::string& name_of(const StageSpec& stage) { return stage.origin_op.name(); }

/// The range of a root axis and the domain that is needed of it, in terms of the loops around the
/// producer.
struct NeededAxis {
  IterVar axis;
  Range range;
  Interval domain;
};

/// What a producer that is computed at some place, kept in some scope, sees of a reader. Producers
/// at one place share it.
struct ReaderView {
  std::optional<AttachPoint> place;
  StorageScope scope;
  std::vector<NeededAxis> axes;
  IntervalMap domains;
};

/// Every axis from which a leaf derives that is bound to a thread.
AxisFlags find_thread_bound(const FrozenStage& stage) {
  AxisMarks bound;
  for (const auto& [axis, attributes] : stage.attributes) {
    if (attributes.thread && stage.has_leaf(axis)) bound.set(axis, 1);
  }
  AxisFlags flags;
  if (bound.size() == 0) return flags;
  mark_sources(stage.relations, bound);
  for (const IterVar& axis : stage.all_iter_vars)
    if (bound.value_or(axis, 0) != 0) flags.set(axis, true);
  return flags;
}

bool same_place(const std::optional<AttachPoint>& a, const std::optional<AttachPoint>& b) {
  if (!a || !b) return !a && !b;
  return a->stage == b->stage && a->axis.same_as(b->axis);
}

}  // namespace

class BoundInference {
 public:
  /// `whole_space` marks the spatial axes of scans that are computed as a whole.
  BoundInference(const StageGraph& graph, const AxisFlags& whole_space)
      : graph_(graph), whole_space_(whole_space), reads_(graph.size()), views_(graph.size()) {}

  void run() {
    // Consumers first: what a stage must provide is known when all its readers' ranges are.
    for (StageId id : graph_.ids() | std::views::reverse) infer(id);
    // How many threads there are is known in the end.
    for (StageId id : graph_.ids() | std::views::reverse)
      check_threads(graph_, id, ranges_, facts_);
  }

  /// The spatial axes of scans of which the stages of a step touch more than was taken to be
  /// needed.
  std::vector<IterVar> outgrown_axes() {
    std::vector<IterVar> axes;
    for (StageId id : graph_.ids()) {
      if (const Scan* scan = graph_.stage(id).op.as<Scan>()) add_outgrown(id, *scan, axes);
    }
    return axes;
  }

  Bounds bounds() {
    forget_fused_ranges();
    Bounds bounds;
    for (StageId id : graph_.ids()) {
      bounds.stage_names_.push_back(name_of(graph_.stage(id)));
      for (const IterVar& axis : axes_of(graph_.stage(id))) add(bounds, id, axis);
    }
    return bounds;
  }

 private:
  // ---- one stage

  void infer(StageId id) {
    const FrozenStage& stage = graph_.stage(id);
    check_double_buffer(graph_, id);
    infer_root_ranges(id);
    AxisFlags keeps_extent = find_thread_bound(stage);
    RangeSweep sweep{ranges_, facts_, &keeps_extent};
    pass_ranges_down(stage.relations, sweep);
    for (const IterVar& axis : axes_of(stage)) {
      if (const Range* range = ranges_.find(axis)) add_values(axis, *range);
    }
    for (const auto& [axis, attributes] : stage.attributes) {
      if (!attributes.thread || !ranges_.contains(axis)) continue;
      const Expr& extent = ranges_.at(axis).extent;
      bind_thread(attributes.thread->axis,
                  number_of_threads(stage, axis, *attributes.thread, extent));
    }
    for (const IterVar& thread : stage.env_threads) {
      if (thread.dom()) bind_thread(thread, thread.dom()->extent);
    }
    if (stage.op.as<Compute>() || stage.op.as<TensorCompute>())
      reads_[id.index()] = collect_reads(stage.op);
  }

  void infer_root_ranges(StageId id) {
    const FrozenStage& stage = graph_.stage(id);
    if (stage.op.root_iter_vars().empty()) return;
    if (stage.is_output) {
      for (const IterVar& axis : stage.op.root_iter_vars()) set_root(axis, declared(axis));
      return;
    }
    if (const Scan* scan = stage.op.as<Scan>())
      return provide_scan(id, *scan, needs_of_readers(id, id));
    provide(stage.op, needs_of_readers(id, id));
  }

  static Range declared(const IterVar& axis) {
    internal_check(axis.dom().has_value(),
                   "axis `" + axis.name() + "` of an operation has no range");
    return *axis.dom();
  }

  void set_root(const IterVar& axis, const Range& range) {
    ranges_.set(axis, in_type_of(axis, range));
    facts_.bind(axis.var(), ranges_.at(axis), /*replace=*/true);
  }

  void add_values(const IterVar& axis, const Range& range) {
    all_values_.set(axis.var(), values_of(Interval::from_range(range), all_values_, facts_));
  }

  /// Threads are started once, around all loops: where the extent varies from iteration to
  /// iteration, as many as the greatest.
  Expr number_of_threads(const FrozenStage& stage, const IterVar& axis, const ThreadMark& thread,
                         const Expr& extent) const {
    if (!uses_any(extent, all_values_)) return extent;
    const Interval values = values_of(extent, all_values_, facts_);
    if (values.max()) return simplify(*values.max(), facts_);
    throw BoundError(
        "bind of axis `" + axis.name() + "` of stage `" + name_of(stage) +
            "`: the number of threads varies with the loops around, and no upper bound of it is known",
        thread.where);
  }

  static bool uses_any(const Expr& e, const IntervalMap& vars) {
    return uses_var(e, [&](const Expr& var) { return vars.find(Var::of(var)) != nullptr; });
  }

  /// One thread axis may serve loops of several extents: it runs the greatest, and the shorter
  /// loops are guarded.
  void bind_thread(const IterVar& thread, const Expr& extent) {
    // No thread would run what else there is to do, be it to store sums of nothing.
    Expr greatest = is_zero(extent) ? make_int(extent.dtype(), 1) : extent;
    if (const Range* known = ranges_.find(thread)) {
      if (surely_equal(known->extent, greatest) ||
          arith::can_prove(greatest <= known->extent, facts_))
        return;
      if (!arith::can_prove(known->extent <= greatest, facts_))
        greatest = max(known->extent, greatest);
    }
    Range range = Range::from_min_extent(make_int(thread.var().dtype(), 0),
                                         cast(thread.var().dtype(), greatest));
    facts_.bind(thread.var(), range, /*replace=*/true);
    add_values(thread, range);
    if (!contains(threads_, thread)) threads_.push_back(thread);
    ranges_.set(thread, std::move(range));
  }

  // ---- what the readers need

  /// Per output, per dimension, while one iteration of the loops around the stage `kept_in` runs,
  /// which holds the stage's values: the stage itself, or the scan whose state it is.
  std::vector<Needs> needs_of_readers(StageId id, StageId kept_in) {
    std::vector<Needs> all;
    for (const TensorReaders& output : graph_.output_readers(id)) {
      Needs needs(output.tensor.shape().size());
      for (StageId reader : output.readers) add_needs_of(reader, kept_in, output.tensor, needs);
      all.push_back(std::move(needs));
    }
    return all;
  }

  void add_needs_of(StageId reader, StageId producer, const Tensor& tensor, Needs& needs) {
    const ReaderView& view = view_of(reader, producer);
    // While one iteration around the producer runs, the reader's axes take only the values that are
    // needed in it.
    for (const NeededAxis& needed : view.axes)
      facts_.bind(needed.axis.var(), needed.range, /*replace=*/true);
    add_needs(graph_.stage(reader).op, reads_[reader.index()], tensor, view.domains, facts_, needs);
    for (const NeededAxis& needed : view.axes) {
      facts_.bind(needed.axis.var(), ranges_.at(needed.axis), /*replace=*/true);
    }
  }

  const ReaderView& view_of(StageId reader, StageId producer) {
    const std::optional<AttachPoint>& place = graph_.stage(producer).place;
    const StorageScope scope = graph_.stage(producer).scope;
    std::vector<ReaderView>& views = views_[reader.index()];
    for (const ReaderView& view : views) {
      if (view.scope == scope && same_place(view.place, place)) return view;
    }
    views.push_back(make_view(reader, producer, place, scope));
    return views.back();
  }

  /// The loops of the reader that lie inside the producer's place, or that are bound to threads
  /// which share its memory, are relaxed to their ranges; the others stay symbols.
  ReaderView make_view(StageId reader, StageId producer, const std::optional<AttachPoint>& place,
                       StorageScope scope) {
    const FrozenStage& stage = graph_.stage(reader);
    const StorageScope own_scope = graph_.stage(reader).scope;
    bool inside = true;
    AxisDomains domains;
    for (std::size_t i = stage.leaf_iter_vars.size(); i-- > 0;) {
      const IterVar& leaf = stage.leaf_iter_vars[i];
      if (place && place->stage == reader && place->axis.same_as(leaf)) inside = false;
      if (inside) check_sees_thread(graph_, producer, thread_of(stage, leaf), reader);
      domains.set(leaf, leaf_domain(stage, leaf, inside, scope, own_scope));
    }
    std::vector<AttachPoint> relaxed_loops;
    for (const AttachPoint& loop : graph_.attach_path(reader)) {
      if (place && place->stage == loop.stage && place->axis.same_as(loop.axis)) inside = false;
      const IterVar* thread = thread_of(graph_.stage(loop.stage), loop.axis);
      if (inside) check_sees_thread(graph_, producer, thread, loop.stage);
      if (is_relaxed(thread, inside, scope)) relaxed_loops.push_back(loop);
    }
    internal_check(!place || !inside, "a stage that is read outside of its loop");
    pass_domains_up(stage.relations, ranges_, domains);
    return finish_view(stage.op, place, scope, domains,
                       values_of_loops(reader, relaxed_loops, scope));
  }

  /// The values that the loops, given innermost first, and all threads that share the memory take,
  /// as the reader sees them. The range of a loop may depend on those around it.
  IntervalMap values_of_loops(StageId reader, const std::vector<AttachPoint>& loops,
                              StorageScope scope) const {
    IntervalMap values;
    for (const IterVar& thread : threads_) {
      if (is_shared_along(scope, *thread.thread()))
        values.set(thread.var(), *all_values_.find(thread.var()));
    }
    for (const AttachPoint& loop : std::views::reverse(loops)) {
      values.set(loop.axis.var(),
                 values_of(Interval::from_range(ranges_.at(loop.axis)), values, facts_));
    }
    for (const AttachPoint& loop : loops_of_owners(graph_, reader)) {
      const IterVar& thread = *thread_of(graph_.stage(loop.stage), loop.axis);
      if (!is_shared_along(scope, *thread.thread())) continue;
      const Range counted = thread_values(loop.axis);
      values.set(thread.var(), values_of(Interval::from_range(counted), values, facts_));
    }
    return values;
  }

  static bool is_relaxed(const IterVar* thread, bool inside, StorageScope scope) {
    return thread ? is_shared_along(scope, *thread->thread()) : inside;
  }

  /// A thread counts from 0, whatever the loop that is bound to it starts at.
  Range thread_values(const IterVar& axis) const {
    return Range::from_min_extent(make_int(axis.var().dtype(), 0), ranges_.at(axis).extent);
  }

  /// In a reader kept in `own_scope`, for a producer kept in `scope`.
  Interval leaf_domain(const FrozenStage& stage, const IterVar& leaf, bool inside,
                       StorageScope scope, StorageScope own_scope) const {
    const Range& range = ranges_.at(leaf);
    if (is_one(range.extent)) return Interval::point(range.min);
    const IterVar* thread = thread_of(stage, leaf);
    if (is_relaxed(thread, inside, scope)) return Interval::from_range(range);
    if (thread && !is_divided(stage, leaf, *thread, own_scope)) return Interval::point(range.min);
    if (thread) return Interval::point(shifted(thread->var(), range.min));
    return Interval::point(leaf.var());
  }

  ReaderView finish_view(const Operation& op, const std::optional<AttachPoint>& place,
                         StorageScope scope, const AxisDomains& domains,
                         const IntervalMap& relaxed) {
    ReaderView view{place, scope, {}, {}};
    for (const IterVar& axis : op.root_iter_vars()) {
      const Interval* own = domains.find(axis);
      const Range range = own ? own->to_range(declared(axis), nothing_) : ranges_.at(axis);
      Interval domain = Interval::from_range(range);
      if (uses_any(range.min, relaxed) || uses_any(range.extent, relaxed)) {
        const Interval first = values_of(range.min, relaxed, facts_);
        const Interval last = values_of(range.min + range.extent - 1, relaxed, facts_);
        // Whatever the loops do, reads happen only within the operation's own domain.
        const bool bounded = first.min() && last.max();
        domain = bounded ? Interval::of(*first.min(), *last.max())
                         : Interval::from_range(declared(axis));
      }
      view.domains.set(axis.var(), domain);
      facts_.bind(axis.var(), range, /*replace=*/true);
      view.axes.push_back({axis, range, std::move(domain)});
    }
    return view;
  }

  // ---- what a stage must provide

  /// The hull of all needs. Outputs have one shape and are computed together, so the needs of all
  /// of them count.
  void provide(const Operation& op, const std::vector<Needs>& needs) {
    for (std::size_t i = 0; i < op.axis().size(); ++i) {
      std::vector<Interval> sets;
      for (const Needs& of_output : needs)
        sets.insert(sets.end(), of_output[i].begin(), of_output[i].end());
      const IterVar& axis = op.axis()[i];
      set_root(axis, cover(sets, declared(axis), facts_));
    }
    for (const IterVar& axis : op.reduce_axis()) set_root(axis, declared(axis));
  }

  /// All steps from the first to the last that is needed; of space everything, since a step may
  /// read what its neighbours held before, but along the axes of which a part needs just that part.
  void provide_scan(StageId id, const Scan& scan, const std::vector<Needs>& needs) {
    std::vector<Interval> steps;
    for (const Needs& of_output : needs)
      steps.insert(steps.end(), of_output[0].begin(), of_output[0].end());
    const Range whole = declared(scan.scan_axis);
    const Range needed = cover(steps, whole, facts_);
    Expr count = simplify(needed.extent + needed.min - whole.min, nothing_);
    // If only initial states are needed, no step is made.
    if (arith::can_prove(count <= 0, facts_)) count = make_int(count.dtype(), 0);
    set_root(scan.scan_axis, Range::from_min_extent(whole.min, count));
    const std::vector<IterVar> fixed = fixed_axes(graph_, id);
    for_each_space(scan, [&](std::size_t k, std::size_t dim, const IterVar& axis) {
      const bool is_part = contains(fixed, axis) && !whole_space_.value_or(axis, false);
      set_root(axis, is_part ? cover(needs[k][dim], declared(axis), facts_) : declared(axis));
    });
  }

  /// Every spatial axis of a scan, with the state and the dimension that it is of.
  template <class F>
  static void for_each_space(const Scan& scan, F f) {
    for (std::size_t k = 0, axis = 0; k < scan.update.size(); ++k) {
      for (std::size_t dim = 1; dim < scan.update[k].shape().size(); ++dim)
        f(k, dim, scan.spatial_axis[axis++]);
    }
  }

  void add_outgrown(StageId id, const Scan& scan, std::vector<IterVar>& outgrown) {
    for_each_space(scan, [&](std::size_t k, std::size_t dim, const IterVar& axis) {
      const Range& kept = ranges_.at(axis);
      if (same_range(kept, declared(axis))) return;
      std::vector<Interval> touched;
      if (const std::optional<StageId> state = graph_.find(scan.state[k].op()))
        touched = needs_of_readers(*state, id).front()[dim];
      for (const Tensor& part : {scan.init[k], scan.update[k]}) {
        const std::vector<IterVar>& axes = graph_.stage(*graph_.find(part.op())).op.axis();
        touched.push_back(axes.empty() ? Interval::everything()
                                       : Interval::from_range(ranges_.at(axes[dim])));
      }
      const bool fits = std::all_of(touched.begin(), touched.end(), [&](const Interval& set) {
        return set.is_bounded() && arith::can_prove(kept.min <= *set.min(), facts_) &&
               arith::can_prove(*set.max() < kept.min + kept.extent, facts_);
      });
      if (!fits) outgrown.push_back(axis);
    });
  }

  // ---- the result

  static std::vector<IterVar> axes_of(const FrozenStage& stage) {
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

  /// The known texts show regions that were put in order without the ranges of fused axes: over
  /// 1 x 10, a region that begins at floormod(f, 10) is written so, and its terms stand behind
  /// plain ones of the same scale.
  void forget_fused_ranges() {
    for (StageId id : graph_.ids())
      for (const Relation& relation : graph_.stage(id).relations)
        if (const Fuse* fuse = std::get_if<Fuse>(&relation))
          facts_.bind_bound(fuse->fused.var(), {});
  }

  void add(Bounds& bounds, StageId id, const IterVar& axis) {
    const Range* range = ranges_.find(axis);
    if (!range || bounds.ranges_.contains(axis)) return;
    const Range simple =
        constant_int(range->min) && constant_int(range->extent) ? *range : simplify(*range, facts_);
    bounds.ranges_.set(axis, simple);
    bounds.entries_.push_back({id, axis, simple});
  }

  const StageGraph& graph_;
  const AxisFlags& whole_space_;
  AxisRanges ranges_;
  /// The ranges of all axes found so far.
  Facts facts_;
  /// What the axes found so far can be, whatever the loops around them do.
  IntervalMap all_values_;
  std::vector<IterVar> threads_;
  const Facts nothing_;
  std::vector<std::vector<TensorReads>> reads_;
  std::vector<std::vector<ReaderView>> views_;
};

const Range& Bounds::operator[](const IterVar& axis) const {
  if (const Range* range = ranges_.find(axis)) return *range;
  throw BoundError("axis `" + axis.name() + "` is none of the schedule's: it has no bounds");
}

Bounds infer_bound(const StageGraph& graph) {
  // Loops that overshoot what they are to compute can touch more of a scan's state than its readers
  // need.
  AxisFlags whole_space;
  while (true) {
    BoundInference inference(graph, whole_space);
    inference.run();
    const std::vector<IterVar> outgrown = inference.outgrown_axes();
    if (outgrown.empty()) return inference.bounds();
    for (const IterVar& axis : outgrown) whole_space.set(axis, true);
  }
}

Bounds infer_bound(const Schedule& schedule, SourceLocation where) {
  auto graph = std::make_shared<const StageGraph>(freeze(schedule, where));
  Bounds bounds = infer_bound(*graph);
  bounds.graph_ = std::move(graph);
  return bounds;
}

std::ostream& operator<<(std::ostream& out, const Bounds& bounds) {
  std::size_t stage_width = 5, axis_width = 4;
  for (const std::string& name : bounds.stage_names_)
    stage_width = std::max(stage_width, name.size());
  for (const Bounds::Entry& entry : bounds.entries_)
    axis_width = std::max(axis_width, entry.axis.name().size());
  // An axis that began at 0 already, and its like that does for certain, are one to the reader.
  std::set<std::array<std::string, 3>> printed;
  auto row = [&](const std::string& stage, const std::string& axis, const std::string& range) {
    if (!printed.insert({stage, axis, range}).second) return;
    out << std::left << std::setw(static_cast<int>(stage_width) + 2) << stage
        << std::setw(static_cast<int>(axis_width) + 2) << axis << range << '\n';
  };
  row("stage", "axis", "range");
  for (const Bounds::Entry& entry : bounds.entries_) {
    const std::string range =
        "[" + print_expr(entry.range.min) + ", +" + print_expr(entry.range.extent) + ")";
    row(bounds.stage_names_[entry.stage.index()], entry.axis.name(), range);
  }
  return out;
}

}  // namespace tenon::te
