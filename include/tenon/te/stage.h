// Stages: how one operation is computed. `te::Stage` is the handle that users call primitives on;
// what it refers to is a StageData (stage_data.h) while it is edited and then a FrozenStage
// (graph.h).
//
//   auto [xo, xi] = s[C].split(s[C].axis(0), 8);
//   s[C].reorder({xi, xo}).vectorize(xi);
//
// Every primitive first checks and then changes: one that throws (ScheduleError, with the user's
// line) leaves the schedule as it was.
#pragma once

#include "tenon/te/dense_id.h"
#include "tenon/te/intrin.h"

namespace tenon::te {

/// A stage's number in a schedule: by age, so that a stage keeps it.
using StageNumber = DenseId<struct StageData>;
/// A group's number in a schedule.
using GroupNumber = DenseId<struct GroupData>;

// How axes come of each other: relation.h.
struct Split;
struct Fuse;
struct Rebase;
struct Singleton;
struct Transform;
using Relation = std::variant<Split, Fuse, Rebase, Singleton, Transform>;

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

/// The first axis of a list without braces, with the line of the call.
struct FirstAxis {
  FirstAxis(const IterVar& axis, SourceLocation where = SourceLocation::current())
      : axis(axis), where(where) {}
  IterVar axis;
  SourceLocation where;
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
  bool is_group() const { return is_group_; }
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
  template <std::same_as<IterVar>... More>
  IterVar fuse(const FirstAxis& first, const IterVar& second, const IterVar& third,
               const More&... more) const {
    return fuse(std::vector<IterVar>{first.axis, second, third, more...}, first.where);
  }
  TileAxes tile(const IterVar& x, const IterVar& y, const Operand& x_factor,
                const Operand& y_factor, SourceLocation where = SourceLocation::current()) const;
  /// The listed loops trade places among themselves; the others stay where they are. A loop must
  /// stay inside of those that its range depends on, and the terms of a reduction in their order
  /// where the reducer depends on it.
  Stage reorder(std::initializer_list<IterVar> order,
                SourceLocation where = SourceLocation::current()) const;
  Stage reorder(const std::vector<IterVar>& order,
                SourceLocation where = SourceLocation::current()) const;
  template <std::same_as<IterVar>... More>
  Stage reorder(const FirstAxis& first, const IterVar& second, const More&... more) const {
    return reorder(std::vector<IterVar>{first.axis, second, more...}, first.where);
  }

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
  /// "stream_stores", "dot_products", "allow_reciprocals". Any other is printed, means nothing, and
  /// is worth a warning.
  Stage pragma(const IterVar& axis, Name key, PragmaValue value = 1,
               SourceLocation where = SourceLocation::current()) const;
  /// Precondition: the stage reads the tensor. The offset is the same throughout a call of the
  /// function.
  Stage prefetch(const Tensor& tensor, const IterVar& axis, const Operand& offset,
                 SourceLocation where = SourceLocation::current()) const;
  Stage tensorize(const IterVar& axis, const TensorIntrin& intrin,
                  SourceLocation where = SourceLocation::current()) const;

  /// Lets the compiler interchange, jam and vectorize the stage's serial loops, as it does for
  /// stages without a schedule (BuildOptions::autotune_loops). The printed loops do not change.
  Stage autotune_loops(SourceLocation where = SourceLocation::current()) const;

  // ---- where and how it is stored
  /// The last of compute_at, compute_inline and compute_root holds; compute_at of a stage that was
  /// to be inlined is a warning.
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
  Stage env_threads(const IterVar& thread, SourceLocation where = SourceLocation::current()) const {
    return env_threads(std::vector<IterVar>{thread}, where);
  }
  template <std::same_as<IterVar>... More>
  Stage env_threads(const FirstAxis& first, const IterVar& second, const More&... more) const {
    return env_threads(std::vector<IterVar>{first.axis, second, more...}, first.where);
  }
  /// The stride of a dimension of the output, as it is stored, leaves `offset` when divided by
  /// `factor`.
  Stage storage_align(const IterVar& axis, int factor, int offset,
                      SourceLocation where = SourceLocation::current()) const;
  /// Of a compute that is no output: it may go on behind the end of the axis, as its readers' loops
  /// do, so that whole tiles need no rest; where nothing is to be read, elements are 0. (Halide has
  /// TailStrategy::RoundUp.)
  Stage round_up(const IterVar& axis, SourceLocation where = SourceLocation::current()) const;
  /// Makes a compute that is no output cover `range` of the axis, whatever its readers need, so
  /// that the loop has a known extent and can be unrolled or vectorized. BoundError when the bounds
  /// are inferred, unless the readers provably stay inside. (Halide: `bound`.)
  Stage bound(const IterVar& axis, const Range& range,
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
  Stage(Shared<ScheduleData> schedule, StageNumber stage)
      : schedule_(std::move(schedule)), number_(stage.index()), is_group_(false) {}
  Stage(Shared<ScheduleData> schedule, GroupNumber group)
      : schedule_(std::move(schedule)), number_(group.index()), is_group_(true) {}
  std::variant<StageNumber, GroupNumber> target() const;
  Shared<ScheduleData> schedule_;
  std::size_t number_;
  bool is_group_;
};

/// Marks the border between physical dimensions in a transform_layout.
Expr axis_separator();

}  // namespace tenon::te
