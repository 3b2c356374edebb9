// The data of a stage in an editable schedule: axes, relations, marks and attachment. Needed only
// to inspect schedules; stage.h suffices to write them.
//
//   for (const Relation& relation : s[C].data().relations) ...
#pragma once

#include "tenon/te/operation_kind.h"
#include "tenon/te/relation.h"
#include "tenon/te/stage.h"

namespace tenon::te {

// ---- where a stage is computed ------------------------------------------------------------------

/// Computed on its own, before its consumers.
struct AttachRoot {};
/// Inlined into its consumers as an expression.
struct AttachInline {};
/// Attached to the loop `axis` of `stage`.
struct AttachAt {
  StageNumber stage;
  IterVar axis;
};
/// Attached to the time loop `axis` of a scan, as the scan's update or a part of the update.
struct AttachScanUpdate {
  StageNumber scan;
  IterVar axis;
};
/// The attachment of a stage.
using Attach = std::variant<AttachRoot, AttachInline, AttachAt, AttachScanUpdate>;

// ---- marks of an axis: what primitives say of it, each with the user's line ---------------------

/// Returns "Unrolled", "Vectorized" or "Parallelized".
std::string run_text(tir::ForKind kind);

/// Binding of the loop to the thread axis `axis`, one iteration per thread.
struct ThreadMark {
  IterVar axis;
  SourceLocation where;
};
/// Whether two thread axes denote the same threads. Two axes do if they have the same tag, unless
/// the tag is a virtual thread: each axis of virtual threads has its own threads.
bool is_same_thread(const IterVar& a, const IterVar& b);
/// A pragma, with the line that set it.
struct Pragma {
  std::string key;
  Expr value;
  SourceLocation where;
};
/// Request to prefetch the elements of `tensor` that iteration `axis + offset` reads.
struct PrefetchRequest {
  Tensor tensor;
  Expr offset;
  SourceLocation where;
};

/// Marks of a loop. If the loop's axis is rebased, the new axis takes them over.
struct LoopAttributes {
  /// Parallel, Vectorized or Unrolled. Nullopt: serial, unless the axis is bound to a thread or
  /// tensorized.
  std::optional<tir::ForKind> run = std::nullopt;
  SourceLocation run_where = {};
  std::optional<ThreadMark> thread = std::nullopt;
  std::vector<Pragma> pragmas = {};
  std::vector<PrefetchRequest> prefetches = {};
  /// The intrinsic that replaces this loop and the loops inside it.
  std::optional<TensorIntrin> tensorize = std::nullopt;
  SourceLocation tensorize_where = {};
};

/// Marks of a dimension of the output. If the loop's axis is rebased, these marks stay with the
/// original axis.
struct DimensionAttributes {
  /// A factor and an offset: the stride of the dimension is padded so that stride % factor ==
  /// offset.
  std::optional<std::pair<int, int>> align = std::nullopt;
  /// Set by Stage::round_up and Stage::shift_inwards.
  bool rounds_up = false, shifts_inwards = false;
  /// The range that the stage must cover; see Stage::bound.
  std::optional<Range> bound = std::nullopt;
  SourceLocation bound_where = {};
};

/// All marks of one axis.
struct AxisAttributes : LoopAttributes, DimensionAttributes {};

// ---- a stage ------------------------------------------------------------------------------------

/// The operation of a stage and how to compute it, except for the attachment.
struct StageSpec {
  /// The current operation. Dataflow rewrites (cache_write, rfactor, ...) and freeze replace it.
  Operation op;
  /// The operation that the user declared.
  Operation origin_op;
  /// The operation's axes, followed by every axis that a relation created.
  std::vector<IterVar> all_iter_vars;
  /// The loops, outermost first, including env_threads.
  std::vector<IterVar> leaf_iter_vars;
  /// The relations in creation order.
  std::vector<Relation> relations = {};
  /// The marks of every axis that has any, in the order of their first mark.
  std::vector<std::pair<IterVar, AxisAttributes>> attributes = {};
  /// Thread axes around a whole scan.
  std::vector<IterVar> env_threads = {};
  SourceLocation attach_where = {};
  SourceLocation scope_where = {};
  /// Condition on the stage's stores.
  std::optional<Expr> store_predicate = std::nullopt;
  SourceLocation store_predicate_where = {};
  bool double_buffer = false;
  SourceLocation double_buffer_where = {};
  bool rolling_buffer = false;
  /// Set by Stage::autotune_loops.
  bool autotunes_loops = false;
  bool is_output = false;
  /// Set by transform_layout: element (i...) of the output is stored at forward(i...).
  std::optional<Transform::Map> layout = std::nullopt;
  SourceLocation layout_where = {};
  /// Dimensions of the stored output at which a physical dimension begins; see tir::BufferNode.
  std::vector<int> axis_separators = {};

  /// Returns the marks of the axis, or null if it has none.
  const AxisAttributes* attributes_of(const IterVar& axis) const;
  AxisAttributes& attributes_of_or_new(const IterVar& axis);
  /// Returns the thread binding of the axis, or null if it is not bound.
  const ThreadMark* thread_mark_of(const IterVar& axis) const;
  /// Whether a tensor intrinsic computes the stage, from some loop inwards.
  bool is_tensorized() const;
  /// Whether the loops are the axes of the operation, unchanged and without marks.
  bool has_default_loops() const;
  /// Return whether Stage::round_up and Stage::shift_inwards were called on the axis.
  bool rounds_up(const IterVar& axis) const;
  bool shifts_inwards(const IterVar& axis) const;
  /// Returns the range set by Stage::bound; null if the consumers determine the range.
  const Range* bound_of(const IterVar& axis) const;
  /// Return whether the axis is a loop, and whether it is any axis of the stage.
  bool has_leaf(const IterVar& axis) const;
  bool has_axis(const IterVar& axis) const;
  /// Returns the position of the axis among the loops; nullopt if it is not a loop.
  std::optional<int> leaf_position(const IterVar& axis) const;
  /// Returns the relation that consumes the axis, or null.
  const Relation* consumer_of(const IterVar& axis) const;
};

/// A split whose axes a dataflow rewrite (cache_write, rfactor) has made axes of an operation, and
/// the name of its parent in messages: "axis `i` of stage `C`". The operation's ranges contain the
/// split's count.
using ReplacedSplit = std::pair<Split, std::string>;

/// A stage of an editable schedule.
struct StageData : StageSpec {
  Attach attach = AttachRoot{};
  /// Nullopt: inferred from the enclosing threads.
  std::optional<tir::StorageScope> scope = std::nullopt;
  /// The group that contains the stage.
  std::optional<GroupNumber> group = std::nullopt;

  /// Makes the default stage: one loop per non-opaque root axis of the operation.
  static StageData make(const Operation& op);
};

bool contains(std::span<const IterVar> axes, const IterVar& axis);
/// Appends the axis unless the list contains it.
void add_once(std::vector<IterVar>& axes, const IterVar& axis);
std::optional<int> find_axis(std::span<const IterVar> axes, const IterVar& axis);

}  // namespace tenon::te
