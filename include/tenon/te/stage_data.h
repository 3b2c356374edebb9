// What a stage of a schedule is while it is edited: its axes, their relations and marks, and where
// it is computed. For who looks into schedules; who writes them needs stage.h alone.
//
//   for (const Relation& relation : s[C].data().relations) ...
#pragma once

#include "tenon/te/operation_kind.h"
#include "tenon/te/relation.h"
#include "tenon/te/stage.h"

namespace tenon::te {

// ---- where a stage is computed ------------------------------------------------------------------

/// By itself, before its consumers.
struct AttachRoot {};
/// As an expression in its consumers.
struct AttachInline {};
/// Inside the loop of `axis` of `stage`.
struct AttachAt {
  StageNumber stage;
  IterVar axis;
};
/// Inside the time loop `axis` of a scan, as (part of) its update.
struct AttachScanUpdate {
  StageNumber scan;
  IterVar axis;
};
/// Where a stage is computed.
using Attach = std::variant<AttachRoot, AttachInline, AttachAt, AttachScanUpdate>;

// ---- marks of an axis: what primitives say of it, each with the user's line ---------------------

/// How a loop runs that does not run its iterations one after the other.
enum class LoopMark : std::uint8_t { Unrolled, Vectorized, Parallelized };
using tenon::to_string;  // of source lines; the next one would hide it
std::string_view to_string(LoopMark mark);

/// How the loop runs, and the user's line.
struct RunMark {
  LoopMark mark;
  SourceLocation where;
};
/// The axis is the thread axis `axis`: one iteration per thread.
struct ThreadMark {
  IterVar axis;
  SourceLocation where;
};
/// Of two thread axes. All of one tag are the same threads; of virtual threads, each axis is its
/// own.
bool is_same_thread(const IterVar& a, const IterVar& b);
/// A pragma of the user's, with the line.
struct Pragma {
  std::string key;
  Expr value;
  SourceLocation where;
};
/// Fetch what iteration `axis + offset` reads of `tensor`.
struct PrefetchRequest {
  Tensor tensor;
  Expr offset;
  SourceLocation where;
};
/// The intrinsic takes the place of this loop and of all loops inside of it.
struct TensorizeMark {
  TensorIntrin intrin;
  SourceLocation where;
};
/// The stride of this axis' dimension is padded so that stride % factor == offset.
struct StorageAlign {
  int factor;
  int offset;
};

/// The stage covers this range of the axis: see Stage::bound.
struct BoundMark {
  Range range;
  SourceLocation where;
};

/// All that a user has said of one axis.
struct AxisAttributes {
  /// None: the iterations run one after the other, unless a thread or an intrinsic takes them.
  std::optional<RunMark> run = std::nullopt;
  std::optional<ThreadMark> thread = std::nullopt;
  std::vector<Pragma> pragmas = {};
  std::vector<PrefetchRequest> prefetches = {};
  std::optional<TensorizeMark> tensorize = std::nullopt;
  std::optional<StorageAlign> align = std::nullopt;
  /// Of an axis of the operation: see Stage::round_up.
  bool rounds_up = false;
  /// The range of Stage::bound; only axes of the operation have one.
  std::optional<BoundMark> bound = std::nullopt;

  /// Whether the axis has the mark.
  bool runs(LoopMark mark) const { return run && run->mark == mark; }
};

// ---- a stage ------------------------------------------------------------------------------------

/// What a stage computes and how, all but the place where it is computed.
struct StageSpec {
  /// What is computed now; dataflow rewrites (cache_write, rfactor, ...) and freeze change it.
  Operation op;
  /// What the user declared.
  Operation origin_op;
  /// The operation's axes, then every axis that a relation made.
  std::vector<IterVar> all_iter_vars;
  /// The loops, outermost first; env_threads among them.
  std::vector<IterVar> leaf_iter_vars;
  /// In the order of their making.
  std::vector<Relation> relations = {};
  /// Those of the axes that have any, in the order in which they got them.
  std::vector<std::pair<IterVar, AxisAttributes>> attributes = {};
  /// Threads around a whole scan.
  std::vector<IterVar> env_threads = {};
  SourceLocation attach_where = {};
  SourceLocation scope_where = {};
  /// Stores happen only where this holds.
  std::optional<Expr> store_predicate = std::nullopt;
  SourceLocation store_predicate_where = {};
  bool double_buffer = false;
  SourceLocation double_buffer_where = {};
  bool rolling_buffer = false;
  /// Stage::autotune_loops was called.
  bool autotunes_loops = false;
  bool is_output = false;
  /// Set by transform_layout: element (i...) of the output is stored at forward(i...).
  std::optional<Transform::Map> layout = std::nullopt;
  SourceLocation layout_where = {};
  /// Physical dimensions begin at these dimensions of the stored output: see tir::BufferNode.
  std::vector<int> axis_separators = {};

  /// Null if nothing was said of the axis.
  const AxisAttributes* attributes_of(const IterVar& axis) const;
  AxisAttributes& attributes_of_or_new(const IterVar& axis);
  /// The thread axis that the axis is bound to; null if there is none.
  const ThreadMark* thread_mark_of(const IterVar& axis) const;
  /// Whether an intrinsic computes it, from some loop on.
  bool is_tensorized() const;
  /// Whether the loops are the operation's own and no primitive has said anything of them.
  bool has_default_loops() const;
  /// Whether Stage::round_up was asked of the axis.
  bool rounds_up(const IterVar& axis) const;
  /// The range that the stage is to cover of the axis; null if its readers decide.
  const BoundMark* bound_of(const IterVar& axis) const;
  /// Whether the axis is one of the loops / an axis of the stage at all.
  bool has_leaf(const IterVar& axis) const;
  bool has_axis(const IterVar& axis) const;
  /// Position among the loops.
  std::optional<int> leaf_position(const IterVar& axis) const;
  /// The relation that consumed the axis.
  const Relation* consumer_of(const IterVar& axis) const;
};

/// A stage of a schedule.
struct StageData : StageSpec {
  Attach attach = AttachRoot{};
  /// Unset: deduced from the threads around it.
  std::optional<tir::StorageScope> scope = std::nullopt;
  /// The group that it belongs to.
  std::optional<GroupNumber> group = std::nullopt;

  /// A stage with one loop per root axis of the operation that is not opaque.
  static StageData make(const Operation& op);
};

bool contains(std::span<const IterVar> axes, const IterVar& axis);
std::optional<int> find_axis(std::span<const IterVar> axes, const IterVar& axis);

}  // namespace tenon::te
