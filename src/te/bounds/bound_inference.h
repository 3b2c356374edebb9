// The implementation of infer_bound, which processes stages from consumers to producers. Reading
// order: infer_bound.cpp has the required region of one stage, the result, and the origin of
// requirements for reports; reader_views.cpp has the requirements of a stage's readers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "te/bounds/required_region.h"
#include "te/graph/thread_scope.h"
#include "te/relations/propagate.h"
#include "tenon/arith/interval.h"
#include "tenon/te/axis_map.h"
#include "tenon/te/graph.h"
#include "tenon/te/infer_bound.h"
#include "tenon/tir/walk.h"

namespace tenon::te {

// The data behind a Bounds handle.

struct Bounds::Data {
  AxisMap<Range> ranges;
  std::vector<Entry> entries;
  std::vector<std::string> stage_names;
  std::shared_ptr<const StageGraph> graph = nullptr;
  /// The schedule that was frozen, if the caller passed one, and its version.
  std::optional<Schedule> schedule = std::nullopt;
  std::size_t version = 0;
};

// The effect of guards on a reader's accesses, for exact bounds. A loop that overshoots a split
// axis has iterations in which the axis is out of range. The guards skip these iterations, so the
// reader reads nothing in them.

/// The ranges of axes of a reader that guards admit. For each range: the offsets of the axis, which
/// are its indices minus the first index of the range, and the extent of the range. An iteration is
/// idle (reads nothing) if its offset is outside [0, extent).
using Reaches = std::vector<std::pair<arith::Interval, std::int64_t>>;

/// The requirements of a reader, as seen by a producer with a given attach point and scope. All
/// producers with the same attach point and scope share one view.
struct ReaderView {
  std::optional<AttachPoint> place;
  tir::StorageScope scope;
  /// The reader's root axes with their ranges, and the values of these axes that one iteration of
  /// the loops around the producer requires. Both are expressed in terms of these loops.
  std::vector<std::pair<IterVar, Range>> axes;
  arith::IntervalMap domains;
};

/// The precision of the inferred regions.
///
/// Known: the regions of TVM 0.9.
///
/// Exact: smaller regions. They exclude elements that only overshooting iterations of a reader
/// would read, elements beyond the tensor, and rows that a data-dependent index does not select.
///
/// Clamped: like Exact, but iterations beyond a reader's end require the same as its last
/// iteration. It is used if regions vary in size, because under Exact they can be largest in these
/// iterations.
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

  /// Whether some stage that is computed at a loop has a region whose size varies between
  /// iterations.
  bool has_varying_parts();
  /// Returns the spatial axes of scans along which the stages of a step access elements outside the
  /// part that the inference has assumed to suffice.
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
  /// Finds extents that contain variables of outer loops but provably have one value, and sets them
  /// to this value.
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

  /// Gives each thread axis that is hoisted above its loops (LiftedThreads) the extent of the
  /// launch.
  void widen_lifted_threads();

  // ---- requirements of the readers

  /// Returns the requirements of the readers of `id`, per output and dimension, during one
  /// iteration of the loops around `kept_in`. `kept_in` is the stage that owns the memory of `id`:
  /// the scan if `id` is a scan's state, otherwise `id` itself.
  std::vector<Needs> needs_of_readers(StageId id, StageId kept_in);
  void add_needs_of(StageId reader, StageId producer, const Tensor& tensor, Needs& needs);
  /// Checks that the reader can see the producer's memory. For each thread axis among the reader's
  /// loops inside the producer's attach point, the memory must be shared, or the producer must run
  /// in the same thread.
  void check_is_seen(StageId producer, StageId reader) const;
  const ReaderView& view_of(StageId reader, StageId producer);

  /// Relaxes some of the reader's loops to their ranges: those inside the producer's attach point,
  /// and those bound to threads that share the producer's memory. Other loops remain symbolic.
  ReaderView make_view(StageId reader, const std::optional<AttachPoint>& place,
                       tir::StorageScope scope);

  /// Returns the values that loops and threads take while the reader reads the producer's memory.
  /// Contains the loops, given innermost first, and all threads that share the memory. The range of
  /// a loop may depend on the loops around it.
  arith::IntervalMap values_of_loops(StageId reader, const std::vector<AttachPoint>& loops,
                                     tir::StorageScope scope) const;

  /// Returns the range of a loop in terms of the loops around it. The range may use root axes of
  /// the loop's stage, as for a reduction over [0, i + 1); these are replaced by their values.
  Range range_in_loops(const AttachPoint& loop) const;

  static bool is_relaxed(const IterVar* thread, bool inside, tir::StorageScope scope) {
    return thread ? is_shared_along(scope, *thread->thread()) : inside;
  }

  /// Returns the domain of a leaf of a reader. `own_scope` is the scope of the reader's memory, and
  /// `scope` that of the producer's memory.
  arith::Interval leaf_domain(const FrozenStage& stage, const IterVar& leaf, bool inside,
                              tir::StorageScope scope, tir::StorageScope own_scope) const;

  void stay_in_step(const FrozenStage& stage, AxisDomains& domains) const;
  /// Restricts the domains of root axes to the values that the guards admit, for exact bounds.
  void tighten(const FrozenStage& stage, const AxisDomains& leaves, AxisDomains& domains) const;
  ReaderView finish_view(const FrozenStage& stage, const std::optional<AttachPoint>& place,
                         tir::StorageScope scope, const AxisDomains& domains,
                         const arith::IntervalMap& relaxed, const Reaches& reaches);

  // ---- the ranges of a stage

  /// Sets the range of each axis to the hull of the requirements on all outputs. An operation
  /// computes all its outputs together, so they share the axes.
  void provide(const FrozenStage& stage, const std::vector<Needs>& needs);
  /// Throws unless the required range of the axis is provably inside the user's bound.
  void check_stays_inside(const FrozenStage& stage, const IterVar& axis, const Range& bound,
                          const std::vector<arith::Interval>& sets) const;
  /// Throws if a loop around the stage has different trip counts in threads that share the stage's
  /// memory, because they would not wait for one another.
  void check_runs_in_step(StageId id) const;

  /// Requires all steps from the first to the last step that is read. In the spatial dimensions,
  /// requires all elements, because a step may read neighbouring elements of the previous step.
  /// Exception: along an axis on which each element depends only on elements with the same index,
  /// requires only the elements that are read.
  void provide_scan(StageId id, const Scan& scan, const std::vector<Needs>& needs);

  /// Returns the hull of all reads of these outputs of the stage. Precondition: the outputs have
  /// the same shape.
  RequiredBox required_of(StageId id, std::span<const Tensor> outputs);

  // ---- the result

  static std::vector<IterVar> axes_of(const FrozenStage& stage);

  /// Forgets the ranges of fused axes, because TVM 0.9 simplifies its regions without them. If f
  /// fuses 1 x 10, the minimum of a region remains floormod(f, 10) and is not simplified to f.
  void forget_fused_ranges();
  void add(Bounds::Data& bounds, StageId id, const IterVar& axis);

  const StageGraph& graph_;
  const AxisFlags& whole_space_;
  const Tightness tightness_;
  AxisRanges ranges_;
  /// Facts about the axes inferred so far: their ranges, in terms of outer loops.
  arith::Facts facts_;
  /// All values that the axes inferred so far can take over all iterations of outer loops.
  arith::IntervalMap all_values_;
  std::vector<IterVar> threads_;
  const arith::Facts nothing_;
  std::vector<std::vector<TensorRead>> reads_;
  std::vector<std::vector<ReaderView>> views_;
};

// The dependence of a scan's steps on one another. It determines the spatial axes along which it
// suffices to compute the required part.
//
//   update[t, i] = state[t - 1, i] + x[t, i]       // i is fixed: an element depends on the same i
//   update[t, i] = state[t - 1, i - 1] + x[t, i]   // i is not: a step requires one more element

/// Returns the stages of one step in ascending order: the updates, and every stage that depends on
/// the state and that an update depends on.
std::vector<StageId> stages_of_step(const StageGraph& graph, StageId scan);

/// Returns the spatial axes of the scan along which every element depends only on elements of the
/// state with the same coordinate. Every step requires the same range along these axes. Only
/// indices that are plain axes are recognized; any other index is assumed to read the whole
/// dimension.
std::vector<IterVar> fixed_axes(const StageGraph& graph, StageId scan);

// Checks that reject schedules that are incompatible with their threads and memory. Errors name the
// user's line.

/// Checks after all ranges are known. Loops must not have more iterations than declared threads.
/// Memory that is private to a thread must not be read by others. Loops around a stage whose memory
/// is shared must have the same trip count in all threads. No block may wait for another.
void check_threads(const StageGraph& graph, StageId stage, const AxisRanges& ranges,
                   const Facts& facts);

/// Checks that a double-buffered stage is inside a loop. The stage computes for the next iteration
/// of this loop while its readers use the current one.
void check_double_buffer(const StageGraph& graph, StageId stage);

/// Checks a producer whose memory is private to a thread. The producer must run in the threads that
/// read the memory, even if it is attached outside the loop that is bound to `thread`. This loop
/// belongs to `reader` or encloses it.
void check_sees_thread(const StageGraph& graph, StageId producer, const IterVar* thread,
                       StageId reader);

}  // namespace tenon::te
