// Stages: how one operation is computed. `te::Stage` is the handle that users call primitives on;
// StageData is what a stage is while it is edited. (Frozen, it is a FrozenStage: te/graph.h.)
//
//   auto [xo, xi] = s[C].split(s[C].axis(0), 8);
//   s[C].reorder({xi, xo}).vectorize(xi);
//
// Every primitive first checks and then changes: one that throws (ScheduleError, with the user's
// line) leaves the schedule as it was.
#pragma once

#include "tenon/te/dense_id.h"
#include "tenon/te/intrin.h"
#include "tenon/te/relation.h"

namespace tenon::te {

/// A stage's number in a schedule: by age, so that a stage keeps it.
using StageNumber = DenseId<struct StageData>;
/// A group's number in a schedule.
using GroupNumber = DenseId<struct GroupData>;

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

/// All that a user has said of one axis.
struct AxisAttributes {
  /// None: the iterations run one after the other, unless a thread or an intrinsic takes them.
  std::optional<RunMark> run = std::nullopt;
  std::optional<ThreadMark> thread = std::nullopt;
  std::vector<Pragma> pragmas = {};
  std::vector<PrefetchRequest> prefetches = {};
  std::optional<TensorizeMark> tensorize = std::nullopt;
  std::optional<StorageAlign> align = std::nullopt;

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

// ---- the handle ---------------------------------------------------------------------------------

/// The value of a pragma: an integer, a bool, a text or an expression.
class PragmaValue {
 public:
  PragmaValue(const char* text, SourceLocation where = SourceLocation::current())
      : value_(tir::make_string(Name(text, where))) {}
  PragmaValue(const std::string& text) : value_(tir::make_string(text)) {}
  template <class T>
  requires std::convertible_to<T, Operand> PragmaValue(const T& value)
      : value_(Operand(value).alone()) {}
  const Expr& expr() const { return value_; }

 private:
  Expr value_;
};

/// What may become of extents that a layout does not divide.
struct LayoutOptions {
  /// Where the map divides an index by what does not divide its extent, the new layout is as large
  /// as if it did: panels of 32 columns, of which the last is not full. What is left over is never
  /// written, and never read.
  bool pad = false;
};

struct ScheduleData;

class Stage {
 public:
  /// What split returns.
  struct SplitAxes {
    IterVar outer, inner;
  };
  /// What tile returns.
  struct TileAxes {
    IterVar x_outer, y_outer, x_inner, y_inner;
  };

  // Moving copies, so that a handle is never empty.
  Stage(const Stage&) = default;
  Stage& operator=(const Stage&) = default;

  // ---- questions
  /// Of the current operation: right also after cache_write or rfactor. A group has none
  /// (ScheduleError).
  Operation op(SourceLocation where = SourceLocation::current()) const;
  Operation origin_op(SourceLocation where = SourceLocation::current()) const;
  IterVar axis(int n, SourceLocation where = SourceLocation::current()) const;
  IterVar reduce_axis(int n, SourceLocation where = SourceLocation::current()) const;
  IterVar scan_axis(SourceLocation where = SourceLocation::current()) const;
  const std::vector<IterVar>& leaf_iter_vars(
      SourceLocation where = SourceLocation::current()) const;
  const std::vector<IterVar>& all_iter_vars(SourceLocation where = SourceLocation::current()) const;
  const std::vector<Relation>& relations(SourceLocation where = SourceLocation::current()) const;
  const StageData& data(SourceLocation where = SourceLocation::current()) const;
  bool is_group() const { return std::holds_alternative<GroupNumber>(target_); }
  /// The group that it belongs to.
  std::optional<Stage> group() const;
  std::string name() const;
  bool same_as(const Stage& other) const;

  // ---- loops
  /// Inner loops of `factor` iterations (of the whole extent where that is less). A factor may be
  /// known only when the function is called, which fails if it is not positive.
  SplitAxes split(const IterVar& axis, const Operand& factor,
                  SourceLocation where = SourceLocation::current()) const;
  /// `nparts` outer loops.
  SplitAxes split_by_nparts(const IterVar& axis, const Operand& nparts,
                            SourceLocation where = SourceLocation::current()) const;
  /// Neighbouring loops, outermost first, as one. Of nothing: a loop of extent 1, outermost.
  IterVar fuse(std::initializer_list<IterVar> axes,
               SourceLocation where = SourceLocation::current()) const;
  IterVar fuse(const std::vector<IterVar>& axes,
               SourceLocation where = SourceLocation::current()) const;
  IterVar fuse(const IterVar& outer, const IterVar& inner,
               SourceLocation where = SourceLocation::current()) const;
  TileAxes tile(const IterVar& x, const IterVar& y, const Operand& x_factor,
                const Operand& y_factor, SourceLocation where = SourceLocation::current()) const;
  /// The listed loops trade places among themselves; the others stay where they are.
  Stage reorder(std::initializer_list<IterVar> order,
                SourceLocation where = SourceLocation::current()) const;
  Stage reorder(const std::vector<IterVar>& order,
                SourceLocation where = SourceLocation::current()) const;

  // ---- how a loop runs
  Stage vectorize(const IterVar& axis, SourceLocation where = SourceLocation::current()) const;
  Stage unroll(const IterVar& axis, SourceLocation where = SourceLocation::current()) const;
  /// On a reduction: accepted with a warning; `build` refuses it.
  Stage parallel(const IterVar& axis, SourceLocation where = SourceLocation::current()) const;
  /// A reduction that threads share must not depend on the order, nor be fused with data. One
  /// thread for two axes of a stage: accepted with a warning; `build` refuses it.
  Stage bind(const IterVar& axis, const IterVar& thread,
             SourceLocation where = SourceLocation::current()) const;
  /// The keys "unroll" and "vectorize" are the primitives of those names. The others that mean
  /// something: "auto_unroll_max_step", "unroll_explicit", "import_llvm", "import_c",
  /// "parallel_launch_point", "parallel_stride_pattern", "parallel_barrier_when_finish",
  /// "debug_skip_region", "loop_partition_hint", "tensor_core", "blocks_per_multiprocessor",
  /// "stream_stores", "dot_products". Any other is printed, means nothing, and is worth a warning.
  Stage pragma(const IterVar& axis, Name key, PragmaValue value = 1,
               SourceLocation where = SourceLocation::current()) const;
  /// Precondition: the stage reads the tensor. The offset is the same throughout a call of the
  /// function.
  Stage prefetch(const Tensor& tensor, const IterVar& axis, const Operand& offset,
                 SourceLocation where = SourceLocation::current()) const;
  Stage tensorize(const IterVar& axis, const TensorIntrin& intrin,
                  SourceLocation where = SourceLocation::current()) const;

  // ---- where and how it is stored
  Stage compute_at(const Stage& parent, const IterVar& axis,
                   SourceLocation where = SourceLocation::current()) const;
  Stage compute_inline(SourceLocation where = SourceLocation::current()) const;
  Stage compute_root(SourceLocation where = SourceLocation::current()) const;
  Stage set_scope(const Name& scope, SourceLocation where = SourceLocation::current()) const;
  /// Of a compute: it stores only where the condition holds, which may use the loops around the
  /// stores, and of tensors placeholders alone.
  Stage set_store_predicate(const Operand& condition,
                            SourceLocation where = SourceLocation::current()) const;
  /// Threads around the whole of a scan, with their number: te::thread_axis({0, n}, "threadIdx.x").
  Stage env_threads(const std::vector<IterVar>& threads,
                    SourceLocation where = SourceLocation::current()) const;
  /// The stride of a dimension of the output, as it is stored, leaves `offset` when divided by
  /// `factor`.
  Stage storage_align(const IterVar& axis, int factor, int offset,
                      SourceLocation where = SourceLocation::current()) const;
  Stage double_buffer(SourceLocation where = SourceLocation::current()) const;
  Stage rolling_buffer(SourceLocation where = SourceLocation::current()) const;
  /// A bijective map from the output's indices to those of its new layout; te::axis_separator()
  /// among the results begins a physical dimension. The loops follow the new layout; returns them.
  std::vector<IterVar> transform_layout(const IndexFunction<std::vector<Expr>>& map,
                                        SourceLocation where = SourceLocation::current()) const;
  /// The same, with room between the rows: transform_layout(map, {.pad = true}).
  std::vector<IterVar> transform_layout(const IndexFunction<std::vector<Expr>>& map,
                                        LayoutOptions options,
                                        SourceLocation where = SourceLocation::current()) const;

 private:
  friend class Schedule;
  friend class StageEdit;
  using Target = std::variant<StageNumber, GroupNumber>;
  Stage(std::shared_ptr<ScheduleData> schedule, Target target)
      : schedule_(std::move(schedule)), target_(target) {}
  std::shared_ptr<ScheduleData> schedule_;
  Target target_;
};

/// Marks the border between physical dimensions in a transform_layout.
Expr axis_separator();

}  // namespace tenon::te
