// Schedules of block programs: a program, its versions, and the trace of what was done to it.
//
//   s_tir::Schedule sch(mod, {.seed = 1});
//   auto Y = sch.get_block("Y", "mm_relu");
//   auto loops = sch.get_loops(Y);
//   auto parts = sch.split(loops[1], {std::nullopt, 4});
//   sch.reorder({parts[0], loops[2], parts[1]});
//   std::cout << sch.trace();
//
// A step that is refused (ScheduleError) leaves the schedule as it was. Copies share everything
// until one of them changes.
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

/// What a schedule starts with.
struct ScheduleOptions {
  /// Of what is sampled. The same seed draws the same.
  std::uint64_t seed = 0;
};

/// A factor of a split: a number, a sampled number, or none for the rest.
class Factor {
 public:
  Factor(std::nullopt_t) {}  // NOLINT(google-explicit-constructor)
  template <std::integral T>
  Factor(T value) : kind_(Kind::Number), number_(static_cast<std::int64_t>(value)) {}  // NOLINT
  Factor(ExprRV value) : kind_(Kind::Sampled), number_(value.number()) {}              // NOLINT
  std::variant<std::monostate, std::int64_t, ExprRV> value() const;

 private:
  enum class Kind : unsigned char { Rest, Number, Sampled };
  Kind kind_ = Kind::Rest;
  std::int64_t number_ = 0;
};
/// The factors of a split, as they stand in a call or as they were sampled.
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

/// What is noted under a key: an integer, a sampled one, a truth value, a float or a text.
using AnnotationValue = std::variant<std::int64_t, ExprRV, bool, double, std::string>;

/// How many factors to draw, the largest innermost one, and the factors if they are decided.
struct PerfectTileOptions {
  int n = 2;
  int max_innermost_factor = 16;
  std::optional<std::vector<std::int64_t>> decision = std::nullopt;
};
/// What is decided already of a choice among candidates.
struct CategoricalOptions {
  /// A position among the candidates.
  std::optional<int> decision = std::nullopt;
};
/// What is decided already of a place to compute at.
struct ComputeLocationOptions {
  /// A position among the loops that are possible; -1 is the root, -2 is inlined.
  std::optional<int> decision = std::nullopt;
};
/// Which buffer of the block, along which axis, and that stride % factor == offset.
struct StorageAlignOptions {
  int buffer_index = 0;
  int axis = 0;
  int factor = 1;
  int offset = 0;
};
/// How a trace is applied.
struct ReplayOptions {
  /// Sampled anew instead of taking the trace's decisions.
  bool draw_anew = false;
};

class Schedule {
 public:
  using Where = SourceLocation;

  /// TypeError: a function that is no block program.
  explicit Schedule(tir::IRModule mod, const ScheduleOptions& options = {},
                    Where where = Where::current());

  const tir::IRModule& mod() const;
  const Trace& trace() const;
  Schedule copy() const { return *this; }

  // ---- what is there ----

  /// "root" is the block around everything. ScheduleError if there is none or more than one.
  BlockRV get_block(const Name& name, const Name& func_name = "main",
                    Where where = Where::current());
  std::vector<LoopRV> get_loops(BlockRV block, Where where = Where::current());
  std::vector<BlockRV> get_child_blocks(BlockOrLoop parent, Where where = Where::current());
  std::vector<BlockRV> get_producers(BlockRV block, Where where = Where::current());
  std::vector<BlockRV> get_consumers(BlockRV block, Where where = Where::current());
  /// A sampled number; the nodes that handles stand for now.
  std::int64_t get(ExprRV value, Where where = Where::current()) const;
  tir::For get(LoopRV loop, Where where = Where::current()) const;
  tir::BlockRealize get(BlockRV block, Where where = Where::current()) const;

  // ---- sampling ----

  /// Factors whose product is the loop's extent, the last at most max_innermost_factor; all such
  /// lists are equally likely.
  std::vector<ExprRV> sample_perfect_tile(LoopRV loop, const PerfectTileOptions& options = {},
                                          Where where = Where::current());
  ExprRV sample_categorical(const std::vector<std::int64_t>& candidates,
                            const std::vector<double>& probs,
                            const CategoricalOptions& options = {}, Where where = Where::current());
  LoopRV sample_compute_location(BlockRV block, const ComputeLocationOptions& options = {},
                                 Where where = Where::current());

  // ---- loops ----

  std::vector<LoopRV> split(LoopRV loop, const Factors& factors, const SplitOptions& options = {},
                            Where where = Where::current());
  LoopRV fuse(const std::vector<LoopRV>& loops, const FuseOptions& options = {},
              Where where = Where::current());
  void reorder(const std::vector<LoopRV>& loops, Where where = Where::current());
  void parallel(LoopRV loop, Where where = Where::current());
  void vectorize(LoopRV loop, Where where = Where::current());
  void unroll(LoopRV loop, Where where = Where::current());
  void bind(LoopRV loop, const Name& thread_axis, Where where = Where::current());

  // ---- memory ----

  BlockRV cache_read(BlockRV block, int read_buffer_index, const Name& storage_scope,
                     Where where = Where::current());
  BlockRV cache_write(BlockRV block, int write_buffer_index, const Name& storage_scope,
                      Where where = Where::current());
  void set_scope(BlockRV block, int buffer_index, const Name& storage_scope,
                 Where where = Where::current());
  void storage_align(BlockRV block, const StorageAlignOptions& options,
                     Where where = Where::current());

  /// "read" or "write" says of which regions of the block the index is one.
  void transform_layout(BlockRV block, int buffer_index, const Name& buffer_index_type,
                        const IndexMap& index_map, Where where = Where::current());

  // ---- places of computation ----

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
  /// The name of a registered intrinsic (tensor_intrin.h). Handles of the block that the
  /// description was compared with then stand for the tensorized block.
  void tensorize(BlockOrLoop target, const Name& tensor_intrin, Where where = Where::current());
  void annotate(BlockOrLoop target, const Name& key, const AnnotationValue& value,
                Where where = Where::current());
  void unannotate(BlockOrLoop target, const Name& key, Where where = Where::current());
  /// Marks in the trace where what a tuner does after the schedule begins.
  void enter_postproc();

  // ---- traces ----

  /// The steps of a trace, with handles of this schedule's own. Decisions are kept where they still
  /// fit, and repaired where they do not. A step that is refused throws, with its line, and leaves
  /// the schedule as it was before all of them.
  void apply_trace(const Trace& trace, const ReplayOptions& options = {},
                   Where where = Where::current());

 private:
  friend class Step;
  struct State;
  const State& state() const { return *state_; }
  /// To change: a copy of its own if others share it.
  State& own();
  Shared<State> state_;
};

}  // namespace tenon::s_tir
