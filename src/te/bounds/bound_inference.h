// The implementation of infer_bound, which processes stages from consumers to producers. Reading
// order: the required region of one stage and the result (infer_bound.cpp), the requirements of its
// readers (reader_views.cpp), and for reports the origin of the requirements (required_boxes.cpp).
#pragma once

#include "te/bounds/bounds_data.h"
#include "te/bounds/guarded_reach.h"
#include "te/bounds/required_boxes.h"
#include "te/bounds/required_region.h"
#include "te/graph/thread_scope.h"
#include "te/relations/propagate.h"
#include "tenon/te/infer_bound.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

/// The range of a root axis, and its required domain in terms of the loops around the producer.
struct NeededAxis {
  IterVar axis;
  Range range;
  arith::Interval domain;
};

/// The requirements of a reader, as seen by a producer with a given attach point and scope. All
/// producers with the same attach point and scope share one view.
struct ReaderView {
  std::optional<AttachPoint> place;
  tir::StorageScope scope;
  std::vector<NeededAxis> axes;
  arith::IntervalMap domains;
};

/// Known: the regions of TVM 0.9. Exact: the regions without the overshoot of a reader's loops,
/// without padding beyond the tensor, and with only the rows that a data-dependent index selects.
/// Clamped: like Exact, but iterations beyond a reader's end require the same as its last
/// iteration. (Otherwise a region of varying size is largest there.)
enum class Tightness : std::uint8_t { Known, Exact, Clamped };

class BoundInference {
 public:
  /// `whole_space` marks the spatial axes of scans that are computed in full.
  BoundInference(const StageGraph& graph, const AxisFlags& whole_space, Tightness tightness)
      : graph_(graph),
        whole_space_(whole_space),
        tightness_(tightness),
        reads_(graph.size()),
        views_(graph.size()) {}

  void run();

  /// Whether the size of a region that is computed at a loop varies between iterations.
  bool has_varying_parts();
  /// Returns the spatial axes of scans along which the stages of a step touch more than the assumed
  /// requirement.
  std::vector<IterVar> outgrown_axes();
  Bounds::Data bounds();
  /// Returns the requirements of each output. Precondition: run() has been called.
  std::vector<RequiredBox> required(StageId id);

 private:
  bool is_exact() const { return tightness_ != Tightness::Known; }

  // ---- one stage

  void infer(StageId id);
  void infer_root_ranges(StageId id);
  static Range declared(const IterVar& axis);
  void set_root(const IterVar& axis, const Range& range);
  /// Records extents that depend syntactically on outer loops but provably have one value.
  void find_constant_extents(const FrozenStage& stage);
  void add_values(const IterVar& axis, const Range& range) {
    all_values_.set(axis.var(),
                    arith::values_of(arith::Interval::from_range(range), all_values_, facts_));
  }

  /// Returns the number of threads. Threads are started once, around all loops, so a varying extent
  /// is replaced by its maximum.
  Expr number_of_threads(const FrozenStage& stage, const IterVar& axis, const ThreadMark& thread,
                         const Expr& extent) const;

  static bool uses_any(const Expr& e, const arith::IntervalMap& vars) {
    return tir::uses_var(e, [&](const Expr& var) { return vars.find(Var::of(var)) != nullptr; });
  }

  /// Sets the extent of a thread axis to the maximum over all loops bound to it. Shorter loops are
  /// guarded.
  void bind_thread(const IterVar& thread, const Expr& extent);

  /// Sets the extent of threads that are hoisted above the loops bound to them (LiftedThreads) to
  /// that of the launch.
  void widen_lifted_threads();

  // ---- requirements of the readers

  /// Returns the requirements per output and dimension during one iteration of the loops around
  /// `kept_in`, the stage that owns the memory: the stage itself, or the scan whose state it is.
  std::vector<Needs> needs_of_readers(StageId id, StageId kept_in);
  void add_needs_of(StageId reader, StageId producer, const Tensor& tensor, Needs& needs);
  /// Checks that no thread axis of the reader lies between the two stages if the producer's memory
  /// is private to a thread.
  void check_is_seen(StageId producer, StageId reader) const;
  const ReaderView& view_of(StageId reader, StageId producer);

  /// Relaxes the reader's loops to their ranges if they are inside the producer's attach point, or
  /// bound to threads that share its memory. Other loops remain symbolic.
  ReaderView make_view(StageId reader, const std::optional<AttachPoint>& place,
                       tir::StorageScope scope);

  /// Returns the values of the loops (given innermost first) and of all threads that share the
  /// memory, from the reader's perspective. The range of a loop may depend on the loops around it.
  arith::IntervalMap values_of_loops(StageId reader, const std::vector<AttachPoint>& loops,
                                     tir::StorageScope scope) const;

  /// Returns the range of a loop in terms of the loops around it. It may depend on root axes of its
  /// stage, as for a reduction over [0, i + 1).
  Range range_in_loops(const AttachPoint& loop) const;

  static bool is_relaxed(const IterVar* thread, bool inside, tir::StorageScope scope) {
    return thread ? is_shared_along(scope, *thread->thread()) : inside;
  }

  /// Returns [0, extent): threads count from 0, whatever the minimum of the loop bound to them.
  Range thread_values(const IterVar& axis) const {
    return Range::from_min_extent(tir::make_int(axis.var().dtype(), 0), ranges_.at(axis).extent);
  }

  /// Returns the domain of a leaf in a reader kept in `own_scope`, for a producer kept in `scope`.
  arith::Interval leaf_domain(const FrozenStage& stage, const IterVar& leaf, bool inside,
                              tir::StorageScope scope, tir::StorageScope own_scope) const;

  void stay_in_step(const FrozenStage& stage, AxisDomains& domains) const;
  /// Restricts the domains of root axes to what the guards admit, for exact bounds.
  void tighten(const FrozenStage& stage, const AxisDomains& leaves, AxisDomains& domains) const;
  ReaderView finish_view(const FrozenStage& stage, const std::optional<AttachPoint>& place,
                         tir::StorageScope scope, const AxisDomains& domains,
                         const arith::IntervalMap& relaxed, const Reaches& reaches);

  // ---- the ranges of a stage

  /// Sets the range of each axis to the hull of all requirements. Since all outputs are computed
  /// together, the requirements of all of them count.
  void provide(const FrozenStage& stage, const std::vector<Needs>& needs);
  /// Throws unless the required range of the axis is provably inside the user's bound.
  void check_stays_inside(const FrozenStage& stage, const IterVar& axis, const BoundMark& bound,
                          const std::vector<arith::Interval>& sets) const;
  /// Throws if threads that share the stage's memory run a loop around it different numbers of
  /// times, since they would not wait for one another.
  void check_runs_in_step(StageId id) const;

  /// Requires all steps from the first to the last that is read. In space, requires everything,
  /// since a step may read neighbouring elements of the previous step. The exceptions are axes
  /// along which each part depends only on the same part.
  void provide_scan(StageId id, const Scan& scan, const std::vector<Needs>& needs);

  /// Calls f for every spatial axis of a scan, with its state and dimension.
  template <class F>
  static void for_each_space(const Scan& scan, F f) {
    for (std::size_t k = 0, axis = 0; k < scan.update.size(); ++k) {
      for (std::size_t dim = 1; dim < scan.update[k].shape().size(); ++dim)
        f(k, dim, scan.spatial_axis[axis++]);
    }
  }

  /// Returns the hull of all reads of these outputs, which have one shape.
  RequiredBox required_of(StageId id, std::span<const TensorReaders> outputs);

  void add_outgrown(StageId id, const Scan& scan, std::vector<IterVar>& outgrown);

  // ---- the result

  static std::vector<IterVar> axes_of(const FrozenStage& stage);

  /// Reproduces TVM 0.9's regions, which are simplified without the ranges of fused axes. Over 1 x
  /// 10, the minimum of a region remains floormod(f, 10), and such terms follow plain terms of the
  /// same scale.
  void forget_fused_ranges();
  void add(Bounds::Data& bounds, StageId id, const IterVar& axis);

  const StageGraph& graph_;
  const AxisFlags& whole_space_;
  const Tightness tightness_;
  AxisRanges ranges_;
  /// The ranges of all axes inferred so far.
  arith::Facts facts_;
  /// The values that the axes inferred so far can take, for any values of outer loops.
  arith::IntervalMap all_values_;
  std::vector<IterVar> threads_;
  const arith::Facts nothing_;
  std::vector<std::vector<TensorReads>> reads_;
  std::vector<std::vector<ReaderView>> views_;
};

/// Repeats the inference until no axis is outgrown, with outgrown axes of scans computed in full,
/// and passes the result to `show`. Exact inference of regions with varying extents is repeated as
/// Clamped.
void with_inferred(const StageGraph& graph, Tightness tightness,
                   const std::function<void(BoundInference&)>& show);

}  // namespace tenon::te
