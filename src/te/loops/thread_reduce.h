// Reductions across threads: a loop of the reduction is bound to threads, each of which reduces a
// part.
//
//   normal_reduce_temp0[0] = identity                     // only if some loops of the reduction are not
//   bound for k.inner: normal_reduce_temp0[0] = combine(normal_reduce_temp0[0], source)
//   tvm_thread_allreduce(..., normal_reduce_temp0[0], ..., reduce_temp0[0], threadIdx.x)
//   B[i] = reduce_temp0[0]
#pragma once

#include <functional>

#include "te/loops/loop_nest.h"

namespace tenon::te {

/// Whether a loop of the stage's reduction is bound to threads. ScheduleError if a data loop stands
/// inside of one.
bool reduces_across_threads(const FrozenStage& stage);

struct ThreadReduction {
  /// The leaves around everything, then those of the reduction that each thread runs by itself.
  std::vector<std::size_t> common, own;
  /// One step of a thread's own part; nothing if there is none.
  Stmt update;
  /// The whole inside of the common loops, given the loops of a thread's own part.
  std::function<Stmt(Stmt)> finish;
};

ThreadReduction make_thread_reduction(StageId stage, Program& program, const LoopNest& nest);

}  // namespace tenon::te
