// Reductions across threads: a reduction loop is bound to threads, each of which reduces a part.
//
//   normal_reduce_temp0[0] = identity            // these two only if a reduction loop is not bound
//   for k.inner: normal_reduce_temp0[0] = combine(normal_reduce_temp0[0], source)
//   tvm_thread_allreduce(..., normal_reduce_temp0[0], ..., reduce_temp0[0], threadIdx.x)
//   B[i] = reduce_temp0[0]
#pragma once

#include <functional>

#include "te/loops/loop_nest.h"

namespace tenon::te {

/// Whether a loop of the stage's reduction is bound to threads. Throws ScheduleError if a data loop
/// is inside such a loop.
bool reduces_across_threads(const FrozenStage& stage);

/// Returns two lists of leaf positions: the leaves that do not carry a reduction, and the leaves of
/// the reduction that are not bound to threads, which each thread runs by itself.
std::pair<std::vector<std::size_t>, std::vector<std::size_t>> leaves_of_thread_reduction(
    const FrozenStage& stage);

/// Returns the statement that adds a term to a thread's partial result (a no-op if each thread has
/// a single term), and a function that completes the loops around this statement: it returns the
/// initialization of the partial results, the loops, the reduction across threads and the store of
/// its result, inside the allocations of their buffers.
std::pair<Stmt, std::function<Stmt(const Stmt& own_loops)>> make_thread_reduction(
    StageId stage, const Program& program, const LoopNest& nest);

}  // namespace tenon::te
