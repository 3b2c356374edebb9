// Schedules of block programs: the current program and the trace of the steps that led to it.
//
//   s_tir::Schedule sch(mod, {.seed = 1});
//   auto Y = sch.get_block("Y", "mm_relu");
//   auto loops = sch.get_loops(Y);
//   auto parts = sch.split(loops[1], {std::nullopt, 4});
//   sch.reorder({parts[0], loops[2], parts[1]});
//   std::cout << sch.trace();
//
// A step that is refused (ScheduleError) leaves the schedule unchanged. Copies are copy-on-write.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "tenon/s_tir/index_map.h"
#include "tenon/s_tir/options.h"
#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/s_tir/trace.h"

namespace tenon::tir {
struct For;
struct BlockRealize;
}  // namespace tenon::tir

namespace tenon::s_tir {

/// Options of a schedule.
struct ScheduleOptions {
  /// Seed of the random sampling. The same seed gives the same samples.
  std::uint64_t seed = 0;
};

/// A factor of a split: a number, a sampled number, or nullopt for the factor to infer.
class Factor {
 public:
  Factor(std::nullopt_t) {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>
  Factor(T value) : number_(static_cast<std::int64_t>(value)) {}        // NOLINT
  Factor(ExprRV value) : number_(value.number()), is_sampled_(true) {}  // NOLINT
  std::variant<std::monostate, std::int64_t, ExprRV> value() const;

 private:
  /// The factor, or the number of its handle if it is sampled.
  std::optional<std::int64_t> number_;
  bool is_sampled_ = false;
};
/// The factors of a split, given in the call or sampled.
class Factors : public std::vector<Factor> {
 public:
  Factors(std::initializer_list<Factor> factors);
  Factors(std::vector<Factor> factors);         // NOLINT(google-explicit-constructor)
  Factors(const std::vector<ExprRV>& sampled);  // NOLINT(google-explicit-constructor)
};

/// A block or a loop.
class BlockOrLoop {
 public:
  BlockOrLoop(BlockRV block) : rv_(block) {}  // NOLINT(google-explicit-constructor)
  BlockOrLoop(LoopRV loop) : rv_(loop) {}     // NOLINT(google-explicit-constructor)
  RV rv() const { return rv_; }

 private:
  RV rv_;
};

/// The value of an annotation: an integer, a sampled integer, a Bool, a float or a string.
using AnnotationValue = std::variant<std::int64_t, ExprRV, bool, double, std::string>;

/// Number of factors, maximum innermost factor and, on replay, the recorded decision.
struct PerfectTileOptions {
  int n = 2;
  int max_innermost_factor = 16;
  std::optional<std::vector<std::int64_t>> decision = std::nullopt;
};
/// Options of sample_categorical and sample_compute_location.
struct ChoiceOptions {
  /// The recorded decision on replay: an index into the candidates, or into the possible loops. A
  /// compute location may also be -1 for the root or -2 for inlining.
  std::optional<int> decision = std::nullopt;
};
/// Pads dimension `axis` of the block's written buffer number `buffer_index` so that its stride %
/// factor == offset.
struct StorageAlignOptions {
  int buffer_index = 0;
  int axis = 0;
  int factor = 1;
  int offset = 0;
};
/// Options of apply_trace.
struct ReplayOptions {
  /// Whether to sample again instead of using the trace's decisions.
  bool draw_anew = false;
};

class Schedule {
 public:
  using Where = SourceLocation;

  /// Starts a schedule of the module. TypeError if a function is not a block program.
  explicit Schedule(tir::IRModule mod, const ScheduleOptions& options = {},
                    Where where = Where::current());
  // Moves are copies, so that a schedule is never empty.
  Schedule(const Schedule&) = default;
  Schedule& operator=(const Schedule&) = default;

  const tir::IRModule& mod() const;
  const Trace& trace() const;
  Schedule copy() const { return *this; }

  // ---- what is there ----

  /// Returns the block of this name; "root" is the outermost block. ScheduleError unless there is
  /// exactly one.
  BlockRV get_block(const Name& name, const Name& func_name = "main",
                    Where where = Where::current());
  std::vector<LoopRV> get_loops(BlockRV block, Where where = Where::current());
  std::vector<BlockRV> get_child_blocks(BlockOrLoop parent, Where where = Where::current());
  std::vector<BlockRV> get_producers(BlockRV block, Where where = Where::current());
  std::vector<BlockRV> get_consumers(BlockRV block, Where where = Where::current());
  /// Return the sampled number, or the node that the handle refers to now.
  std::int64_t get(ExprRV value, Where where = Where::current()) const;
  tir::For get(LoopRV loop, Where where = Where::current()) const;
  tir::BlockRealize get(BlockRV block, Where where = Where::current()) const;

  // ---- sampling ----

  /// Samples a list of factors whose product is the loop's extent. The last factor is at most
  /// max_innermost_factor. All such lists are equally likely.
  std::vector<ExprRV> sample_perfect_tile(LoopRV loop, const PerfectTileOptions& options = {},
                                          Where where = Where::current());
  ExprRV sample_categorical(const std::vector<std::int64_t>& candidates,
                            const std::vector<double>& probs, const ChoiceOptions& options = {},
                            Where where = Where::current());
  LoopRV sample_compute_location(BlockRV block, const ChoiceOptions& options = {},
                                 Where where = Where::current());

  // ---- loops ----

  std::vector<LoopRV> split(LoopRV loop, const Factors& factors, const SplitOptions& options = {},
                            Where where = Where::current());
  LoopRV fuse(const std::vector<LoopRV>& loops, const FuseOptions& options = {},
              Where where = Where::current());
  void reorder(const std::vector<LoopRV>& loops, Where where = Where::current());
  /// Puts a block or a loop into a loop of one iteration, which is returned.
  LoopRV add_unit_loop(BlockOrLoop target, Where where = Where::current());
  void parallel(LoopRV loop, Where where = Where::current());
  void vectorize(LoopRV loop, Where where = Where::current());
  void unroll(LoopRV loop, Where where = Where::current());
  void bind(LoopRV loop, const Name& thread_axis, Where where = Where::current());

  // ---- memory ----

  BlockRV cache_read(BlockRV block, int read_buffer_index, const Name& storage_scope,
                     Where where = Where::current());
  BlockRV cache_write(BlockRV block, int write_buffer_index, const Name& storage_scope,
                      Where where = Where::current());
  /// Makes a buffer whose indices are the iterators of the block, and a block that copies what the
  /// block reads ("read") or writes ("write"). Returns that block.
  BlockRV reindex(BlockRV block, int buffer_index, const Name& buffer_index_type,
                  Where where = Where::current());
  void set_scope(BlockRV block, int buffer_index, const Name& storage_scope,
                 Where where = Where::current());
  void storage_align(BlockRV block, const StorageAlignOptions& options,
                     Where where = Where::current());

  /// Changes the layout of a buffer. `buffer_index_type` is "read" or "write": the list of regions
  /// that `buffer_index` refers to.
  void transform_layout(BlockRV block, int buffer_index, const Name& buffer_index_type,
                        const IndexMap& index_map, Where where = Where::current());

  /// Replaces the iterators of a block, and the loops around it, by map(iterators).
  void transform_block_layout(BlockRV block, const IndexMap& index_map,
                              Where where = Where::current());

  // ---- compute locations ----

  void compute_at(BlockRV block, LoopRV loop, const ComputeAtOptions& options = {},
                  Where where = Where::current());
  void reverse_compute_at(BlockRV block, LoopRV loop, const ComputeAtOptions& options = {},
                          Where where = Where::current());
  void compute_inline(BlockRV block, Where where = Where::current());
  void reverse_compute_inline(BlockRV block, Where where = Where::current());

  // ---- reductions, blocks, notes ----

  BlockRV decompose_reduction(BlockRV block, LoopRV loop, Where where = Where::current());
  void merge_reduction(BlockRV init, BlockRV update, Where where = Where::current());
  BlockRV rfactor(LoopRV loop, int factor_axis = 0, Where where = Where::current());
  BlockRV blockize(LoopRV loop, Where where = Where::current());
  /// Replaces the block or loop by a registered intrinsic (tensor_intrin.h). Handles of the block
  /// that matched the description then refer to the tensorized block.
  void tensorize(BlockOrLoop target, const Name& tensor_intrin, Where where = Where::current());
  void annotate(BlockOrLoop target, const Name& key, const AnnotationValue& value,
                Where where = Where::current());
  void unannotate(BlockOrLoop target, const Name& key, Where where = Where::current());
  /// Marks in the trace where the postprocessing by a tuner begins.
  void enter_postproc();

  // ---- traces ----

  /// Applies the steps of a trace, with new handles. Decisions that do not fit this program are
  /// repaired. A step that is refused throws with its line in the trace and leaves the schedule as
  /// it was before the first step.
  void apply_trace(const Trace& trace, const ReplayOptions& options = {},
                   Where where = Where::current());

 private:
  friend class Step;
  struct State;
  const State& state() const { return *state_; }
  /// Returns the state for modification, copying it first if it is shared.
  State& own();
  Shared<State> state_;
};

}  // namespace tenon::s_tir
