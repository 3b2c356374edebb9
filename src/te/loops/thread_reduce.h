// Reductions across threads: a loop of the reduction is bound to threads, each of which reduces a
// part.
//
//   normal_reduce_temp0[0] = identity            // these two if some loop of it is not bound
//   for k.inner: normal_reduce_temp0[0] = combine(normal_reduce_temp0[0], source)
//   tvm_thread_allreduce(..., normal_reduce_temp0[0], ..., reduce_temp0[0], threadIdx.x)
//   B[i] = reduce_temp0[0]
#pragma once

#include "te/loops/loop_nest.h"

namespace tenon::te {

/// Whether a loop of the stage's reduction is bound to threads. ScheduleError if a data loop stands
/// inside of one.
bool reduces_across_threads(const FrozenStage& stage);

/// The leaves around everything, then those of the reduction that each thread runs by itself.
struct ThreadReductionLeaves {
  std::vector<std::size_t> common, own;
};
ThreadReductionLeaves leaves_of_thread_reduction(const FrozenStage& stage);

struct ThreadReduction {
  /// Elements of one: the totals, and what each thread has reduced by itself, if it does.
  std::vector<tir::Buffer> totals, parts;
  /// The begin of a thread's own part, and one step of it; nothing if there is none.
  std::vector<Stmt> start_parts;
  Stmt update;
  /// The reduction across threads, then the store of its result.
  Stmt all_reduce, store_result;

  /// The whole inside of the common loops, given the loops of a thread's own part.
  Stmt around(const Stmt& own_loops) const;
};

ThreadReduction make_thread_reduction(StageId stage, const Program& program, const LoopNest& nest);

}  // namespace tenon::te
