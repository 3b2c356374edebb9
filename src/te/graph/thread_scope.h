// The relation between threads and memory: which threads share which memory.
#pragma once

#include "tenon/te/graph.h"
#include "tenon/tir/memory_scope.h"

namespace tenon::te {

/// Returns the level in the launch hierarchy: 0 for blocks, 1 for threads of a block, including
/// virtual ones.
int rank_of(const tir::ThreadTag& tag);

/// Found by argument-dependent lookup as well. If each thread has its own copy of the memory, a
/// data axis bound to the thread stays at its minimum, because no other thread could see the
/// results.
using tir::is_shared_along;

/// Returns the default scope of a stage that is computed under threads of this level; level -1
/// means outside all threads.
tir::StorageScope default_scope(int thread_rank);

/// Returns the thread axis that the axis or loop is or is bound to; null for an ordinary loop.
const IterVar* thread_of(const StageSpec& stage, const IterVar& axis);
const IterVar* thread_of(const StageGraph& graph, const AttachPoint& loop);

bool same_loop(const AttachPoint& a, const AttachPoint& b);
bool has_loop(const std::vector<AttachPoint>& loops, const AttachPoint& loop);
/// Returns the loops of the stage and those around it, innermost first.
std::vector<AttachPoint> loops_of(const StageGraph& graph, StageId stage);

/// Whether the leaf is a reduction loop bound to threads that reduce together. Each thread
/// contributes its part and receives the total, regardless of the scope of the result.
bool is_reduced_together(const StageSpec& stage, const IterVar& leaf);

/// Returns the threads of the loop and those hoisted above it: in a reduction across threads, each
/// thread runs the loops that are not bound.
std::vector<IterVar> threads_at(const StageGraph& graph, const AttachPoint& loop);

/// Returns the final scope of the stage. The default depends on the enclosing threads. They include
/// the threads of reductions across threads, which FrozenStage::scope does not consider.
tir::StorageScope memory_of(const StageGraph& graph, StageId stage);

/// Whether the stage's memory is allocated inside a launch.
bool lives_in_launch(const StageGraph& graph, StageId stage);

/// Whether each thread runs its own iteration of the leaf bound to it. If not, each thread has its
/// own memory, and all of them run the first iteration.
bool is_divided(const StageSpec& stage, const IterVar& leaf, const IterVar& thread,
                tir::StorageScope scope);

/// Whether the stage runs inside the thread axis: a loop of the stage, or a loop around it, is that
/// axis or is bound to it.
bool runs_in(const StageGraph& graph, StageId stage, const tir::ThreadTag& tag);

/// Returns, for each thread tag, the loop around the stage that assigns its computation to single
/// threads with private memory. That loop divides the elements of an outer stage that the threads
/// share. Threads beyond its end are idle.
std::vector<AttachPoint> loops_of_owners(const StageGraph& graph, StageId stage);

/// Returns the threads around the stage, innermost first, that share its memory although none of
/// its loops is bound to them. All of them execute the whole stage. Concurrent stores of equal
/// values are harmless; concurrent accumulation is not.
std::vector<IterVar> idle_threads(const StageGraph& graph, StageId stage);

}  // namespace tenon::te
