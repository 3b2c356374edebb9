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

/// Returns two lists of leaf positions: the leaves that do not carry a reduction, and the leaves of
/// the reduction that are not bound to threads, which each thread runs by itself.
std::pair<std::vector<std::size_t>, std::vector<std::size_t>> leaves_of_thread_reduction(
    const FrozenStage& stage);

struct ThreadReduction {
  /// Buffers with one element each. `totals` receive the results. `parts` are the partial results
  /// of a thread; empty if each thread has a single term.
  std::vector<tir::Buffer> totals, parts;
  /// The statements that initialize a thread's partial result (`start_parts`) and add a term to it
  /// (`update`). Empty if each thread has a single term.
  std::vector<Stmt> start_parts;
  Stmt update;
  /// The reduction across threads, and the statement that stores its result.
  Stmt all_reduce, store_result;

  /// Returns the sequence of start_parts, `own_loops`, all_reduce and store_result inside the
  /// allocations of `totals` and `parts`. `own_loops` are the loops over a thread's part of the
  /// reduction.
  Stmt around(const Stmt& own_loops) const;
};

ThreadReduction make_thread_reduction(StageId stage, const Program& program, const LoopNest& nest);

}  // namespace tenon::te
