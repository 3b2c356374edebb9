// The relation between threads and memory: which threads share which memory.
#pragma once

#include "tenon/te/graph.h"
#include "tenon/tir/memory_scope.h"

namespace tenon::te {

/// Returns the level in the launch hierarchy: 0 for blocks, 1 for threads of a block, including
/// virtual ones.
int rank_of(const tir::ThreadTag& tag);

/// Whether the threads of an axis share memory of this scope. If not, each thread has its own copy,
/// and a data axis that is bound to the thread stays at its minimum: other threads could not see
/// the results.
using tir::is_shared_along;

/// Returns the default scope of a stage that is computed under threads of this level. Level -1
/// means outside all threads.
tir::StorageScope default_scope(int thread_rank);

/// Returns the thread axis that a loop is bound to, or the axis itself if it is a thread axis. Null
/// for an ordinary loop.
const IterVar* thread_of(const StageSpec& stage, const IterVar& axis);
const IterVar* thread_of(const StageGraph& graph, const AttachPoint& loop);

bool same_loop(const AttachPoint& a, const AttachPoint& b);
bool has_loop(const std::vector<AttachPoint>& loops, const AttachPoint& loop);
/// Returns the stage's own loops and the loops around the stage, innermost first.
std::vector<AttachPoint> loops_of(const StageGraph& graph, StageId stage);

/// Whether the leaf is a reduction loop that is bound to threads, which then reduce together. Each
/// thread contributes its part and receives the total, regardless of the scope of the result.
bool is_reduced_together(const StageSpec& stage, const IterVar& leaf);

/// Returns the threads that the loop is bound to or that are hoisted above it. In a reduction
/// across threads, each thread runs all loops that are not bound to threads.
std::vector<IterVar> threads_at(const StageGraph& graph, const AttachPoint& loop);

/// Returns the final scope of the stage. The default depends on the enclosing threads. They include
/// the threads of reductions across threads, which FrozenStage::scope does not consider.
tir::StorageScope memory_of(const StageGraph& graph, StageId stage);

/// Whether the stage's memory is allocated inside a launch.
bool lives_in_launch(const StageGraph& graph, StageId stage);

/// Whether the iterations of `leaf`, which is bound to `thread`, are distributed over the threads:
/// the threads share memory of `scope`, or they reduce together. Otherwise each thread has a
/// private copy of the memory and runs only the first iteration of the leaf.
bool is_divided(const StageSpec& stage, const IterVar& leaf, const IterVar& thread,
                tir::StorageScope scope);

/// Whether the stage runs inside a thread axis of this tag: one of the stage's loops, or a loop
/// around the stage, is bound to it or is the thread axis itself.
bool runs_in(const StageGraph& graph, StageId stage, const tir::ThreadTag& tag);

/// Returns the loops around the stage that assign it to single threads with private memory, one for
/// each thread tag. Such a loop divides an outer stage that the threads share. Threads beyond the
/// loop's end do not compute the stage.
std::vector<AttachPoint> loops_of_owners(const StageGraph& graph, StageId stage);

/// Returns the threads around the stage, innermost first, that share the stage's memory although no
/// loop of the stage is bound to them. All of them execute the whole stage. Concurrent stores of
/// equal values are harmless, but concurrent accumulation is not.
std::vector<IterVar> idle_threads(const StageGraph& graph, StageId stage);

}  // namespace tenon::te
