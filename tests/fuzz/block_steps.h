// Random steps of schedules of block programs, and the intrinsics that they may tensorize with.
#pragma once

#include "tenon/s_tir/program.h"
#include "tenon/s_tir/schedule.h"
#include "tests/fuzz/random_schedule.h"

namespace tenon::fuzz {

/// One random step after another; a step that is refused leaves no trace.
class BlockSteps {
 public:
  /// Notes what it tries.
  BlockSteps(s_tir::Schedule& schedule, std::vector<Attempt>& attempts, Random& random)
      : sch_(schedule), attempts_(attempts), random_(random), has_threads_(random.one_in(5)) {}

  /// One that is not kept draws as much by chance as one that is.
  void try_one(bool is_kept);

 private:
  using BlockRV = s_tir::BlockRV;
  using LoopRV = s_tir::LoopRV;
  using Names = std::vector<std::string>;
  using Loops = std::vector<LoopRV>;

  s_tir::Program program() const { return s_tir::Program(sch_.mod().functions.at("main")); }
  Names block_names() const;

  // Each returns the name of the primitive; "none" where there was nothing to do.
  std::string step(Random& random);
  std::string place(Random& random, BlockRV block, const Names& names, int kind);
  std::string memory(Random& random, BlockRV block, int kind);
  std::string loop_step(Random& random, const Loops& loops, int kind);
  std::string bind(Random& random, LoopRV loop);
  std::string reduction(Random& random, const Names& names, int kind);
  std::string merge();
  std::string tensorize(Random& random, const Names& names);
  std::string sample(Random& random, BlockRV block, const Loops& loops, int kind);
  std::string layout(Random& random, BlockRV block, const Names& names, int kind);
  std::string transform_layout(Random& random, BlockRV block);
  std::string reindex(Random& random, BlockRV block, int kind);
  std::string transform_block_layout(Random& random, BlockRV block);

  s_tir::Schedule& sch_;
  std::vector<Attempt>& attempts_;
  Random& random_;
  /// The kind of the current block.
  StageKind kind_ = StageKind::Elementwise;
  /// Loops may be bound to threads. Everything is then in memory that all threads share.
  bool has_threads_;
};

/// Once, before schedules use them.
void register_block_intrinsics();

}  // namespace tenon::fuzz
