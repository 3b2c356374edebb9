#include "tenon/te/infer_bound.h"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <sstream>

#include "te/cover.h"
#include "te/program.h"
#include "te/propagate.h"
#include "te/required_region.h"
#include "te/thread_scope.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/print.h"

namespace tenon::te {

using namespace tir;
using arith::Facts;
using arith::Interval;
using arith::IntervalMap;
using arith::simplify;
using arith::values_of;

namespace {

const std::string& name_of(const StageData& stage) { return stage.origin_op.name(); }

/// The range of a root axis and the domain that is needed of it, in terms of the loops around the producer.
struct NeededAxis {
  IterVar axis;
  Range range;
  Interval domain;
};

/// What a producer that is computed at some place, kept in some scope, sees of a reader. Producers at one
/// place share it.
struct ReaderView {
  std::optional<AttachPoint> place;
  StorageScope scope;
  std::vector<NeededAxis> axes;
  IntervalMap domains;
};

bool same_place(const std::optional<AttachPoint>& a, const std::optional<AttachPoint>& b) {
  if (!a || !b) return !a && !b;
  return a->stage == b->stage && a->axis.same_as(b->axis);
}

}  // namespace

class BoundInference {
 public:
  explicit BoundInference(const StageGraph& graph)
      : graph_(graph),
        reads_(static_cast<std::size_t>(graph.size())),
        views_(static_cast<std::size_t>(graph.size())) {}

  Bounds run() {
    // Consumers first: what a stage must provide is known when all its readers' ranges are.
    for (StageId id = graph_.size(); id-- > 0;) infer(id);
    Bounds bounds;
    for (StageId id = 0; id < graph_.size(); ++id) {
      bounds.stage_names_.push_back(name_of(graph_.stage(id)));
      for (const IterVar& axis : axes_of(graph_.stage(id))) add(bounds, id, axis);
    }
    return bounds;
  }

 private:
  // ---- one stage

  void infer(StageId id) {
    const StageData& stage = graph_.stage(id);
    if (stage.double_buffer) check_is_in_loop(id);
    infer_root_ranges(id);
    AxisFlags keeps_extent = find_thread_bound(stage);
    RangeSweep sweep{ranges_, facts_, &keeps_extent};
    pass_ranges_down(stage.relations, sweep);
    for (const auto& [axis, attributes] : stage.attributes) {
      if (!attributes.thread || !ranges_.contains(axis)) continue;
      check_has_threads(stage, axis, attributes);
      check_memory_of_threads(id, axis, attributes);
      bind_thread(*attributes.thread, ranges_.at(axis).extent);
    }
    for (const IterVar& thread : stage.env_threads) {
      if (thread.dom()) bind_thread(thread, thread.dom()->extent);
    }
    if (stage.op.as<Compute>()) reads_[static_cast<std::size_t>(id)] = collect_reads(stage.op);
  }

  void infer_root_ranges(StageId id) {
    const StageData& stage = graph_.stage(id);
    if (stage.op.root_iter_vars().empty()) return;
    if (stage.is_output) {
      check_is_at_root(stage);
      for (const IterVar& axis : stage.op.root_iter_vars()) set_root(axis, declared(axis));
      return;
    }
    provide(stage.op, needs_of_readers(id));
  }

  static void check_is_at_root(const StageData& stage) {
    if (std::holds_alternative<AttachRoot>(stage.attach)) return;
    throw ScheduleError("stage `" + name_of(stage) + "` is an output, so it must be computed at root",
                        stage.attach_where);
  }

  static Range declared(const IterVar& axis) {
    internal_check(axis.dom().has_value(), "axis `" + axis.name() + "` of an operation has no range");
    return *axis.dom();
  }

  void set_root(const IterVar& axis, const Range& range) {
    ranges_.set(axis, range);
    facts_.bind(axis.var(), range, /*replace=*/true);
  }

  /// One half of a double buffer is filled while an iteration reads the other.
  void check_is_in_loop(StageId id) const {
    for (const AttachPoint& loop : graph_.attach_path(id))
      if (!thread_of(graph_.stage(loop.stage), loop.axis)) return;
    throw ScheduleError(
        "double_buffer of " + describe(graph_.stage(id)) +
            ": it is computed in no loop that could run ahead; compute_at a loop of its reader",
        graph_.stage(id).double_buffer_where);
  }

  void check_has_threads(const StageData& stage, const IterVar& axis,
                         const AxisAttributes& attributes) const {
    const std::optional<Range>& declared = attributes.thread->dom();
    const Expr& extent = ranges_.at(axis).extent;
    if (!declared || !arith::can_prove(declared->extent < extent, facts_)) return;
    throw ScheduleError("bind of " + describe(axis, stage) + " to `" + attributes.thread->name() +
                            "`: the axis has " + print_expr(extent) + " iterations, but only " +
                            print_expr(declared->extent) +
                            " threads are declared; declare more, or split the axis",
                        attributes.where);
  }

  /// Threads that divide the work must share its result.
  void check_memory_of_threads(StageId id, const IterVar& axis, const AxisAttributes& attributes) const {
    const StageData& stage = graph_.stage(id);
    const ThreadTag tag = *attributes.thread->thread();
    if (stage.scope || stage.is_output || tag.is_virtual() || is_one(ranges_.at(axis).extent)) return;
    const StorageScope scope = scope_of(graph_, id);
    if (is_shared_along(scope, tag)) return;
    throw ScheduleError(
        "bind of " + describe(axis, stage) + " to `" + attributes.thread->name() +
            "`: where the stage is computed its result is kept in " + std::string(to_string(scope)) +
            " memory, one for each thread, of which each would compute only a part; set_scope(\"shared\")",
        attributes.where);
  }

  /// One thread axis may serve loops of several extents: it runs the greatest, and the shorter loops are
  /// guarded.
  void bind_thread(const IterVar& thread, const Expr& extent) {
    Expr greatest = extent;
    if (const Range* known = ranges_.find(thread)) {
      if (surely_equal(known->extent, extent) || arith::can_prove(extent <= known->extent, facts_)) return;
      if (!arith::can_prove(known->extent <= extent, facts_)) greatest = max(known->extent, extent);
    }
    Range range =
        Range::from_min_extent(make_int(thread.var().dtype(), 0), cast(thread.var().dtype(), greatest));
    facts_.bind(thread.var(), range, /*replace=*/true);
    ranges_.set(thread, std::move(range));
  }

  // ---- what the readers need

  /// Per output, per dimension.
  std::vector<Needs> needs_of_readers(StageId id) {
    std::vector<Needs> all;
    for (const TensorReaders& output : graph_.output_readers(id)) {
      Needs needs(output.tensor.shape().size());
      for (StageId reader : output.readers) add_needs_of(reader, id, output.tensor, needs);
      all.push_back(std::move(needs));
    }
    return all;
  }

  void add_needs_of(StageId reader, StageId producer, const Tensor& tensor, Needs& needs) {
    const ReaderView& view = view_of(reader, producer);
    // While one iteration around the producer runs, the reader's axes take only the values that are needed in
    // it.
    for (const NeededAxis& needed : view.axes) facts_.bind(needed.axis.var(), needed.range, /*replace=*/true);
    add_needs(graph_.stage(reader).op, reads_[static_cast<std::size_t>(reader)], tensor, view.domains, facts_,
              needs);
    for (const NeededAxis& needed : view.axes) {
      facts_.bind(needed.axis.var(), ranges_.at(needed.axis), /*replace=*/true);
    }
  }

  const ReaderView& view_of(StageId reader, StageId producer) {
    const std::vector<AttachPoint>& path = graph_.attach_path(producer);
    const std::optional<AttachPoint> place = path.empty() ? std::nullopt : std::optional(path.front());
    const StorageScope scope = scope_of(graph_, producer);
    std::vector<ReaderView>& views = views_[static_cast<std::size_t>(reader)];
    for (const ReaderView& view : views) {
      if (view.scope == scope && same_place(view.place, place)) return view;
    }
    views.push_back(make_view(reader, producer, place, scope));
    return views.back();
  }

  /// The loops of the reader that lie inside the producer's place, or that are bound to threads which share
  /// its memory, are relaxed to their ranges; the others stay symbols.
  ReaderView make_view(StageId reader, StageId producer, const std::optional<AttachPoint>& place,
                       StorageScope scope) {
    const StageData& stage = graph_.stage(reader);
    bool inside = true;
    AxisDomains domains;
    for (std::size_t i = stage.leaf_iter_vars.size(); i-- > 0;) {
      const IterVar& leaf = stage.leaf_iter_vars[i];
      if (place && place->stage == reader && place->axis.same_as(leaf)) inside = false;
      if (inside) check_sees_threads(producer, thread_of(stage, leaf), scope, reader);
      domains.set(leaf, leaf_domain(stage, leaf, inside, scope));
    }
    IntervalMap relaxed;
    bool any_relaxed = false;
    for (const AttachPoint& loop : graph_.attach_path(reader)) {
      if (place && place->stage == loop.stage && place->axis.same_as(loop.axis)) inside = false;
      const IterVar* thread = thread_of(graph_.stage(loop.stage), loop.axis);
      if (inside) check_sees_threads(producer, thread, scope, loop.stage);
      if (!is_relaxed(thread, inside, scope)) continue;
      const Interval values = Interval::from_range(ranges_.at(loop.axis));
      relaxed.set(loop.axis.var(), values);
      if (thread) relaxed.set(thread->var(), Interval::from_range(thread_values(loop.axis)));
      any_relaxed = true;
    }
    if (place && inside) refuse_place(producer, reader);
    pass_domains_up(stage.relations, ranges_, domains);
    return finish_view(stage.op, place, scope, domains, any_relaxed ? &relaxed : nullptr);
  }

  /// A producer outside of a thread's loop cannot fill memory of which that thread has a copy of its own.
  void check_sees_threads(StageId producer, const IterVar* thread, StorageScope scope, StageId reader) const {
    if (!thread || is_shared_along(scope, *thread->thread())) return;
    const StageData& stage = graph_.stage(producer);
    const bool placed = std::holds_alternative<AttachAt>(stage.attach);
    throw BoundError("stage `" + name_of(stage) + "` is kept in " + std::string(to_string(scope)) +
                         " memory, of which each iteration of `" + thread->name() + "` in stage `" +
                         name_of(graph_.stage(reader)) +
                         "` has its own, but is computed outside of it; compute_at a loop inside of it, or "
                         "set a wider scope",
                     placed ? stage.attach_where : stage.op.where());
  }

  static bool is_relaxed(const IterVar* thread, bool inside, StorageScope scope) {
    return thread ? is_shared_along(scope, *thread->thread()) : inside;
  }

  /// A thread counts from 0, whatever the loop that is bound to it starts at.
  Range thread_values(const IterVar& axis) const {
    return Range::from_min_extent(make_int(axis.var().dtype(), 0), ranges_.at(axis).extent);
  }

  Interval leaf_domain(const StageData& stage, const IterVar& leaf, bool inside, StorageScope scope) const {
    const Range& range = ranges_.at(leaf);
    if (is_one(range.extent)) return Interval::point(range.min);
    const IterVar* thread = thread_of(stage, leaf);
    if (is_relaxed(thread, inside, scope)) return Interval::from_range(range);
    if (thread) return Interval::point(shifted(thread->var(), range.min));
    return Interval::point(leaf.var());
  }

  ReaderView finish_view(const Operation& op, const std::optional<AttachPoint>& place, StorageScope scope,
                         const AxisDomains& domains, const IntervalMap* relaxed) {
    ReaderView view{place, scope, {}, {}};
    for (const IterVar& axis : op.root_iter_vars()) {
      const Interval* own = domains.find(axis);
      const Range range = own ? own->to_range(declared(axis), nothing_) : ranges_.at(axis);
      Interval domain = Interval::from_range(range);
      if (relaxed) {
        const Interval first = values_of(range.min, *relaxed, facts_);
        const Interval last = values_of(range.min + range.extent - 1, *relaxed, facts_);
        // Whatever the loops do, reads happen only within the operation's own domain.
        const bool bounded = first.min() && last.max();
        domain = bounded ? Interval::of(*first.min(), *last.max()) : Interval::from_range(declared(axis));
      }
      view.domains.set(axis.var(), domain);
      facts_.bind(axis.var(), range, /*replace=*/true);
      view.axes.push_back({axis, range, std::move(domain)});
    }
    return view;
  }

  [[noreturn]] void refuse_place(StageId producer, StageId reader) const {
    const StageData& stage = graph_.stage(producer);
    const AttachPoint& place = graph_.attach_path(producer).front();
    throw BoundError(
        "compute_at of stage `" + name_of(stage) + "` at axis `" + place.axis.name() + "` of stage `" +
            name_of(graph_.stage(place.stage)) + "`: its reader `" + name_of(graph_.stage(reader)) +
            "` is not computed inside that loop; a stage must be computed where all its readers see it",
        stage.attach_where);
  }

  // ---- what a stage must provide

  /// The hull of all needs. Outputs have one shape and are computed together, so the needs of all of them
  /// count.
  void provide(const Operation& op, const std::vector<Needs>& needs) {
    if (const Scan* scan = op.as<Scan>()) return provide_scan(*scan, needs);
    for (std::size_t i = 0; i < op.axis().size(); ++i) {
      std::vector<Interval> sets;
      for (const Needs& of_output : needs) sets.insert(sets.end(), of_output[i].begin(), of_output[i].end());
      const IterVar& axis = op.axis()[i];
      set_root(axis, cover(sets, declared(axis), facts_));
    }
    for (const IterVar& axis : op.reduce_axis()) set_root(axis, declared(axis));
  }

  /// All steps from the first to the last that is needed; of space everything, since a step may read what its
  /// neighbours held before.
  void provide_scan(const Scan& scan, const std::vector<Needs>& needs) {
    std::vector<Interval> steps;
    for (const Needs& of_output : needs) steps.insert(steps.end(), of_output[0].begin(), of_output[0].end());
    const Range whole = declared(scan.scan_axis);
    const Range needed = cover(steps, whole, facts_);
    set_root(scan.scan_axis,
             Range::from_min_extent(whole.min, simplify(needed.extent + needed.min - whole.min, nothing_)));
    for (const IterVar& axis : scan.spatial_axis) set_root(axis, declared(axis));
  }

  // ---- the result

  static std::vector<IterVar> axes_of(const StageData& stage) {
    std::vector<IterVar> axes = stage.op.root_iter_vars();
    for (const Relation& relation : stage.relations) {
      for (const IterVar& child : children_of(relation)) axes.push_back(child);
    }
    for (const auto& [axis, attributes] : stage.attributes) {
      if (attributes.thread) axes.push_back(*attributes.thread);
    }
    axes.insert(axes.end(), stage.env_threads.begin(), stage.env_threads.end());
    return axes;
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
  AxisRanges ranges_;
  /// The ranges of all axes found so far.
  Facts facts_;
  const Facts nothing_;
  std::vector<std::vector<TensorReads>> reads_;
  std::vector<std::vector<ReaderView>> views_;
};

const Range& Bounds::operator[](const IterVar& axis) const {
  if (const Range* range = ranges_.find(axis)) return *range;
  throw BoundError("axis `" + axis.name() + "` is none of the schedule's: it has no bounds");
}

Bounds infer_bound(const StageGraph& graph) { return BoundInference(graph).run(); }

Bounds infer_bound(const Schedule& schedule, SourceLocation where) {
  auto graph = std::make_shared<const StageGraph>(freeze(schedule, where));
  Bounds bounds = infer_bound(*graph);
  bounds.graph_ = std::move(graph);
  return bounds;
}

std::ostream& operator<<(std::ostream& out, const Bounds& bounds) {
  std::size_t stage_width = 5, axis_width = 4;
  for (const std::string& name : bounds.stage_names_) stage_width = std::max(stage_width, name.size());
  for (const Bounds::Entry& entry : bounds.entries_)
    axis_width = std::max(axis_width, entry.axis.name().size());
  auto row = [&](const std::string& stage, const std::string& axis, const std::string& range) {
    out << std::left << std::setw(static_cast<int>(stage_width) + 2) << stage
        << std::setw(static_cast<int>(axis_width) + 2) << axis << range << '\n';
  };
  row("stage", "axis", "range");
  for (const Bounds::Entry& entry : bounds.entries_) {
    const std::string range =
        "[" + print_expr(entry.range.min) + ", +" + print_expr(entry.range.extent) + ")";
    row(bounds.stage_names_[static_cast<std::size_t>(entry.stage)], entry.axis.name(), range);
  }
  return out;
}

}  // namespace tenon::te
