// The inference behind infer_bound, over the stages from readers to producers. Reading order: one
// stage, what it must provide and the result (infer_bound.cpp), what its readers need
// (reader_views.cpp); then, for reports, who needs it (required_boxes.cpp).
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

/// The range of a root axis and the domain that is needed of it, in terms of the loops around the
/// producer.
struct NeededAxis {
  IterVar axis;
  Range range;
  arith::Interval domain;
};

/// What a producer that is computed at some place, kept in some scope, sees of a reader. Producers
/// at one place share it.
struct ReaderView {
  std::optional<AttachPoint> place;
  tir::StorageScope scope;
  std::vector<NeededAxis> axes;
  arith::IntervalMap domains;
};

/// Known: the regions that known texts show. Exact: without what loops beyond the end of a reader
/// would read there, without padding beyond a tensor, and of rows that an index picks only those.
/// Clamped: that, and what a reader needs in iterations beyond its end is what it needs in the last
/// one within. Where the size of a region varies, it is largest there else.
enum class Tightness : std::uint8_t { Known, Exact, Clamped };

class BoundInference {
 public:
  /// `whole_space` marks the spatial axes of scans that are computed as a whole.
  BoundInference(const StageGraph& graph, const AxisFlags& whole_space, Tightness tightness)
      : graph_(graph),
        whole_space_(whole_space),
        tightness_(tightness),
        reads_(graph.size()),
        views_(graph.size()) {}

  void run();

  /// Whether the size of a part that is computed at a loop varies from iteration to iteration.
  bool has_varying_parts();
  /// The spatial axes of scans of which the stages of a step touch more than was taken to be
  /// needed.
  std::vector<IterVar> outgrown_axes();
  Bounds::Data bounds();
  /// Per output of the stage. Precondition: run() is over.
  std::vector<RequiredBox> required(StageId id);

 private:
  bool is_exact() const { return tightness_ != Tightness::Known; }

  // ---- one stage

  void infer(StageId id);
  void infer_root_ranges(StageId id);
  static Range declared(const IterVar& axis);
  void set_root(const IterVar& axis, const Range& range);
  /// Where sizes vary with loops around, some that are computed of them do not.
  void find_constant_extents(const FrozenStage& stage);
  void add_values(const IterVar& axis, const Range& range) {
    all_values_.set(axis.var(),
                    arith::values_of(arith::Interval::from_range(range), all_values_, facts_));
  }

  /// Threads are started once, around all loops: where the extent varies from iteration to
  /// iteration, as many as the greatest.
  Expr number_of_threads(const FrozenStage& stage, const IterVar& axis, const ThreadMark& thread,
                         const Expr& extent) const;

  static bool uses_any(const Expr& e, const arith::IntervalMap& vars) {
    return tir::uses_var(e, [&](const Expr& var) { return vars.find(Var::of(var)) != nullptr; });
  }

  /// One thread axis may serve loops of several extents: it runs the greatest, and the shorter
  /// loops are guarded.
  void bind_thread(const IterVar& thread, const Expr& extent);

  /// Threads that stand around more than the loops bound to them (LiftedThreads) are all that the
  /// launch has.
  void widen_lifted_threads();

  // ---- what the readers need

  /// Per output, per dimension, while one iteration of the loops around the stage `kept_in` runs,
  /// which holds the stage's values: the stage itself, or the scan whose state it is.
  std::vector<Needs> needs_of_readers(StageId id, StageId kept_in);
  void add_needs_of(StageId reader, StageId producer, const Tensor& tensor, Needs& needs);
  /// Of the producer's memory a thread sees what it has itself: no thread of the reader's may stand
  /// between the two.
  void check_is_seen(StageId producer, StageId reader) const;
  const ReaderView& view_of(StageId reader, StageId producer);

  /// The loops of the reader that lie inside the producer's place, or that are bound to threads
  /// which share its memory, are relaxed to their ranges; the others stay symbols.
  ReaderView make_view(StageId reader, const std::optional<AttachPoint>& place,
                       tir::StorageScope scope);

  /// The values that the loops, given innermost first, and all threads that share the memory take,
  /// as the reader sees them. The range of a loop may depend on those around it.
  arith::IntervalMap values_of_loops(StageId reader, const std::vector<AttachPoint>& loops,
                                     tir::StorageScope scope) const;

  /// The range of a loop in terms of the loops around it; it may depend on the root axes of its
  /// stage, as that of a reduction over [0, i + 1) does.
  Range range_in_loops(const AttachPoint& loop) const;

  static bool is_relaxed(const IterVar* thread, bool inside, tir::StorageScope scope) {
    return thread ? is_shared_along(scope, *thread->thread()) : inside;
  }

  /// A thread counts from 0, whatever the loop that is bound to it starts at.
  Range thread_values(const IterVar& axis) const {
    return Range::from_min_extent(tir::make_int(axis.var().dtype(), 0), ranges_.at(axis).extent);
  }

  /// In a reader kept in `own_scope`, for a producer kept in `scope`.
  arith::Interval leaf_domain(const FrozenStage& stage, const IterVar& leaf, bool inside,
                              tir::StorageScope scope, tir::StorageScope own_scope) const;

  void stay_in_step(const FrozenStage& stage, AxisDomains& domains) const;
  /// For exact bounds: the domains of root axes, no larger than what guards let through.
  void tighten(const FrozenStage& stage, const AxisDomains& leaves, AxisDomains& domains) const;
  ReaderView finish_view(const FrozenStage& stage, const std::optional<AttachPoint>& place,
                         tir::StorageScope scope, const AxisDomains& domains,
                         const arith::IntervalMap& relaxed, const Reaches& reaches);

  // ---- what a stage must provide

  /// The hull of all needs. Outputs have one shape and are computed together, so the needs of all
  /// of them count.
  void provide(const FrozenStage& stage, const std::vector<Needs>& needs);
  /// Throws unless all that is needed of the axis provably lies inside of the user's bound.
  void check_stays_inside(const FrozenStage& stage, const IterVar& axis, const BoundMark& bound,
                          const std::vector<arith::Interval>& sets) const;
  /// Throws if threads that share the stage's memory run a loop around it different numbers of
  /// times: what one of them computes, another would not wait for.
  void check_runs_in_step(StageId id) const;

  /// All steps from the first to the last that is needed; of space everything, since a step may
  /// read what its neighbours held before, but along the axes of which a part needs just that part.
  void provide_scan(StageId id, const Scan& scan, const std::vector<Needs>& needs);

  /// Every spatial axis of a scan, with the state and the dimension that it is of.
  template <class F>
  static void for_each_space(const Scan& scan, F f) {
    for (std::size_t k = 0, axis = 0; k < scan.update.size(); ++k) {
      for (std::size_t dim = 1; dim < scan.update[k].shape().size(); ++dim)
        f(k, dim, scan.spatial_axis[axis++]);
    }
  }

  /// What is read of any of these outputs, which have one shape.
  RequiredBox required_of(StageId id, std::span<const TensorReaders> outputs);

  void add_outgrown(StageId id, const Scan& scan, std::vector<IterVar>& outgrown);

  // ---- the result

  static std::vector<IterVar> axes_of(const FrozenStage& stage);

  /// The known texts show regions that were put in order without the ranges of fused axes: over
  /// 1 x 10, a region that begins at floormod(f, 10) is written so, and its terms stand behind
  /// plain ones of the same scale.
  void forget_fused_ranges();
  void add(Bounds::Data& bounds, StageId id, const IterVar& axis);

  const StageGraph& graph_;
  const AxisFlags& whole_space_;
  const Tightness tightness_;
  AxisRanges ranges_;
  /// The ranges of all axes found so far.
  arith::Facts facts_;
  /// What the axes found so far can be, whatever the loops around them do.
  arith::IntervalMap all_values_;
  std::vector<IterVar> threads_;
  const arith::Facts nothing_;
  std::vector<std::vector<TensorReads>> reads_;
  std::vector<std::vector<ReaderView>> views_;
};

/// Infers until all of the space of a scan is taken where loops overshoot, and shows the result.
void with_inferred(const StageGraph& graph, Tightness tightness,
                   const std::function<void(BoundInference&)>& show);

}  // namespace tenon::te
