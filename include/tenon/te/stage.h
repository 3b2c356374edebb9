// Stages: how to compute one operation. `te::Stage` is the handle with the scheduling primitives.
// It refers to a StageData (stage_data.h) in an editable schedule; freezing turns that into a
// FrozenStage (graph.h).
//
//   auto [xo, xi] = s[C].split(s[C].axis(0), 8);
//   s[C].reorder({xi, xo}).vectorize(xi);
//
// Every primitive checks its arguments before it changes anything. A primitive that throws
// (ScheduleError with the user's line) leaves the schedule unchanged.
#pragma once

#include <compare>
#include <cstddef>

#include "tenon/te/intrin.h"

namespace tenon::te {

// Typed indices into vectors. Each kind of element has its own index type, so that indices of
// different kinds cannot be confused.
//
//   using StageId = DenseId<struct FrozenStage>;
//   StageId first(0);  stages[first.index()]

template <class Thing>
class DenseId {
 public:
  constexpr explicit DenseId(std::size_t index) : index_(index) {}
  constexpr std::size_t index() const { return index_; }
  friend constexpr auto operator<=>(const DenseId&, const DenseId&) = default;

 private:
  std::size_t index_;
};

/// An output of a stage, independent of the stage's current operation.
template <class Id>
struct OutputOf {
  Id stage;
  int index;
  friend constexpr auto operator<=>(const OutputOf&, const OutputOf&) = default;
};

/// The number of a stage in a schedule, in creation order. It never changes.
using StageNumber = DenseId<struct StageData>;
/// The number of a group in a schedule.
using GroupNumber = DenseId<struct GroupData>;

// Relations between axes (relation.h).
struct Split;
struct Fuse;
struct Rebase;
struct Singleton;
struct Transform;
using Relation = std::variant<Split, Fuse, Rebase, Singleton, Transform>;

// ---- the handle ---------------------------------------------------------------------------------

/// The value of a pragma: an integer, a Bool, a string or an expression.
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

/// Options of transform_layout.
struct LayoutOptions {
  /// Allows a map that divides an index by a factor that does not divide its extent. The layout is
  /// then padded to full tiles, such as panels of 32 columns with a partial last panel. The padding
  /// is never read or written.
  bool pad = false;
};

/// The first of several axes that are passed without braces, with the line of the call.
struct FirstAxis {
  FirstAxis(const IterVar& axis, SourceLocation where = SourceLocation::current())
      : axis(axis), where(where) {}
  IterVar axis;
  SourceLocation where;
};

struct ScheduleData;

class Stage {
 public:
  /// The result of split.
  struct SplitAxes {
    IterVar outer, inner;
  };
  /// The result of tile.
  struct TileAxes {
    IterVar x_outer, y_outer, x_inner, y_inner;
  };

  // A move copies, so that a moved-from handle is not empty.
  Stage(const Stage&) = default;
  Stage& operator=(const Stage&) = default;

  // ---- questions
  /// Properties of the stage's current operation, which cache_write and rfactor replace.
  /// ScheduleError for a group.
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
  /// Returns the stages that read an output of this one, in the order of their creation.
  std::vector<Stage> readers() const;
  /// Returns the group that contains the stage.
  std::optional<Stage> group() const;
  std::string name() const;
  bool same_as(const Stage& other) const;

  // ---- loops
  /// Splits a loop into an outer loop and an inner loop of `factor` iterations, or of the extent if
  /// that is provably less. A symbolic factor is checked on each call of the function, which fails
  /// unless it is positive, also if the axis is empty, because loop ends are quotients by it.
  SplitAxes split(const IterVar& axis, const Operand& factor,
                  SourceLocation where = SourceLocation::current()) const;
  /// Splits a loop into an outer loop of `nparts` iterations, or of the extent if that is provably
  /// less, and an inner loop. A symbolic `nparts` is checked as a factor is.
  SplitAxes split_by_nparts(const IterVar& axis, const Operand& nparts,
                            SourceLocation where = SourceLocation::current()) const;
  /// Fuses adjacent loops, given outermost first. An empty list makes an outermost loop of extent
  /// 1.
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
  /// Permutes the listed loops; the others keep their positions. ScheduleError if a loop would
  /// leave a loop that its range depends on. Also ScheduleError if the order of the terms of a
  /// reduction would change although the reducer depends on it.
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
  /// Runs the iterations in parallel. A parallel reduction axis causes a warning here, and `build`
  /// refuses it.
  Stage parallel(const IterVar& axis, SourceLocation where = SourceLocation::current()) const;
  /// Binds the loop to a thread axis. If several threads compute one reduction, the reduction must
  /// not depend on the order of its terms, and its axis must not be fused with a data axis. Binding
  /// two axes of a stage to one thread causes a warning here, and `build` refuses it.
  Stage bind(const IterVar& axis, const IterVar& thread,
             SourceLocation where = SourceLocation::current()) const;
  /// Attaches a pragma to a loop. "unroll" and "vectorize" call the primitives of that name. The
  /// other keys with an effect are "auto_unroll_max_step", "unroll_explicit", "import_llvm",
  /// "import_c", "parallel_launch_point", "parallel_stride_pattern",
  /// "parallel_barrier_when_finish", "debug_skip_region", "loop_partition_hint", "tensor_core",
  /// "blocks_per_multiprocessor", "stream_stores", "prefetch_panels", "dot_products" and
  /// "allow_reciprocals". Any other key is printed, has no effect and causes a warning.
  Stage pragma(const IterVar& axis, Name key, PragmaValue value = 1,
               SourceLocation where = SourceLocation::current()) const;
  /// Prefetches the elements of `tensor` that iteration `axis + offset` reads. The offset is
  /// constant during a call of the function. Precondition: the stage reads the tensor.
  Stage prefetch(const Tensor& tensor, const IterVar& axis, const Operand& offset,
                 SourceLocation where = SourceLocation::current()) const;
  Stage tensorize(const IterVar& axis, const TensorIntrin& intrin,
                  SourceLocation where = SourceLocation::current()) const;

  /// Lets the compiler interchange, unroll-and-jam and vectorize the stage's serial loops, as it
  /// does for unscheduled stages (BuildOptions::autotune_loops). The result of `lower` does not
  /// change.
  Stage autotune_loops(SourceLocation where = SourceLocation::current()) const;

  // ---- where and how it is stored
  /// Attach the stage to a loop of `parent`, inline it, or compute it at root. The last call wins.
  /// compute_at on an inlined stage causes a warning.
  Stage compute_at(const Stage& parent, const IterVar& axis,
                   SourceLocation where = SourceLocation::current()) const;
  Stage compute_inline(SourceLocation where = SourceLocation::current()) const;
  Stage compute_root(SourceLocation where = SourceLocation::current()) const;
  Stage set_scope(const Name& scope, SourceLocation where = SourceLocation::current()) const;
  /// Restricts the stores of a compute to points at which the condition holds. The condition may
  /// use the loops around the store, and may read placeholders but no other tensors.
  Stage set_store_predicate(const Operand& condition,
                            SourceLocation where = SourceLocation::current()) const;
  /// Adds thread axes with their ranges around a whole scan: te::thread_axis({0, n},
  /// "threadIdx.x").
  Stage env_threads(const std::vector<IterVar>& threads,
                    SourceLocation where = SourceLocation::current()) const;
  Stage env_threads(const IterVar& thread, SourceLocation where = SourceLocation::current()) const {
    return env_threads(std::vector<IterVar>{thread}, where);
  }
  template <std::same_as<IterVar>... More>
  Stage env_threads(const FirstAxis& first, const IterVar& second, const More&... more) const {
    return env_threads(std::vector<IterVar>{first.axis, second, more...}, first.where);
  }
  /// Pads the stride of a dimension of the stored output so that stride % factor == offset.
  Stage storage_align(const IterVar& axis, int factor, int offset,
                      SourceLocation where = SourceLocation::current()) const;
  /// Lets a non-output compute overrun the axis to its consumers' tile size instead of guarding the
  /// tail (Halide: `TailStrategy::RoundUp`). Elements of the overrun that have no inputs are 0. A
  /// reduction axis overruns only to the range given by `bound`. Its inputs in the overrun must
  /// provably be 0, and terms computed from zeros must be the identity of the reducer.
  Stage round_up(const IterVar& axis, SourceLocation where = SourceLocation::current()) const;
  /// Moves the last tile of the axis of a non-output compute inwards instead of guarding the tail,
  /// so that all tiles have the same extent and only existing elements are computed (Halide:
  /// `TailStrategy::ShiftInwards`). The elements that two tiles share are computed twice. Has no
  /// effect unless a tile is provably no longer than the axis.
  Stage shift_inwards(const IterVar& axis, SourceLocation where = SourceLocation::current()) const;
  /// Makes a non-output compute cover `range` of the axis, even if its consumers require less, so
  /// that the loop has a known extent. (Halide: `bound`.) Bound inference throws BoundError unless
  /// the region that the consumers require is provably inside the range. After round_up(axis), the
  /// range may end beyond the axis. The range of a reduction axis must include the whole axis.
  Stage bound(const IterVar& axis, const Range& range,
              SourceLocation where = SourceLocation::current()) const;
  Stage double_buffer(SourceLocation where = SourceLocation::current()) const;
  Stage rolling_buffer(SourceLocation where = SourceLocation::current()) const;
  /// Changes the layout of the output by a bijective map from its indices to the new indices.
  /// te::axis_separator() among the results begins a new physical dimension. The loops of the stage
  /// follow the new layout; the method returns them.
  std::vector<IterVar> transform_layout(const IndexFunction<std::vector<Expr>>& map,
                                        SourceLocation where = SourceLocation::current()) const;
  /// Overload with options, such as padding of partial tiles.
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

/// Returns the marker for transform_layout that separates two physical dimensions.
Expr axis_separator();

}  // namespace tenon::te
