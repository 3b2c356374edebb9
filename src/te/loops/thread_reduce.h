// Reductions across threads: a reduction loop is bound to threads, each of which reduces a part.
//
//   normal_reduce_temp0[0] = identity            // these two only if a reduction loop is not bound
//   for k.inner: normal_reduce_temp0[0] = combine(normal_reduce_temp0[0], source)
//   tvm_thread_allreduce(..., normal_reduce_temp0[0], ..., reduce_temp0[0], threadIdx.x)
//   B[i] = reduce_temp0[0]
#pragma once

#include "te/loops/loop_nest.h"

namespace tenon::te {

/// Whether a loop of the stage's reduction is bound to threads. Throws ScheduleError if a data loop
/// is inside such a loop.
bool reduces_across_threads(const FrozenStage& stage);

/// Returns the leaves outside the reduction, and the reduction leaves that each thread runs by
/// itself.
std::pair<std::vector<std::size_t>, std::vector<std::size_t>> leaves_of_thread_reduction(
    const FrozenStage& stage);

struct ThreadReduction {
  /// Buffers of one element: the totals, and each thread's partial results if it has several terms.
  std::vector<tir::Buffer> totals, parts;
  /// Initialization of a thread's part, and one step of it; empty if a thread has a single term.
  std::vector<Stmt> start_parts;
  Stmt update;
  /// The reduction across threads, and the store of its result.
  Stmt all_reduce, store_result;

  /// Returns the code inside the common loops, given the loops of a thread's part.
  Stmt around(const Stmt& own_loops) const;
};

ThreadReduction make_thread_reduction(StageId stage, const Program& program, const LoopNest& nest);

}  // namespace tenon::te
