// How threads and memory relate: which threads share which memory.
#pragma once

#include "tenon/te/graph.h"

namespace tenon::te {

/// Height in the launch hierarchy: 0 for blocks, 1 for threads of a block, virtual ones among them.
int rank_of(const tir::ThreadTag& tag);
/// Memory of a rank up to that of a thread axis is shared along that axis: 0 Global, 1 Shared, 2
/// Warp, 3 Local and below.
int rank_of(tir::StorageScope scope);

/// Whether all iterations along the thread axis see one copy of the memory. If each has its own, a
/// data axis bound to the thread stays at its minimum, since no other thread could see what this
/// one computes.
bool is_shared_along(tir::StorageScope scope, const tir::ThreadTag& tag);

/// Where a stage is kept that is computed under threads of this rank; -1 is under none.
tir::StorageScope default_scope(int thread_rank);

/// The thread axis that the axis of the stage is, or is bound to; null for a plain loop.
const IterVar* thread_of(const StageSpec& stage, const IterVar& axis);

/// Whether the leaf is a loop of a reduction that the threads bound to it make together: each
/// brings its part and receives the total, whatever memory the total is kept in.
bool is_reduced_together(const StageSpec& stage, const IterVar& leaf);

/// The threads of the loop, and of those that stand around it although they are inner loops: of a
/// reduction that threads make together, each thread runs the loops that are not bound.
std::vector<IterVar> threads_at(const StageGraph& graph, const AttachPoint& loop);

/// Where the stage is kept in the end. Unless the schedule says, that depends on the threads that
/// stand around: those of a reduction that threads make together among them, of which bounds know
/// nothing (`scope`).
tir::StorageScope memory_of(const StageGraph& graph, StageId stage);

/// Whether the stage's memory is made inside of a launch of threads.
bool lives_in_launch(const StageGraph& graph, StageId stage);

/// Whether each thread runs an iteration of its own of the leaf bound to it. If not, the threads
/// have memory of their own, and all of them run the first iteration.
bool is_divided(const StageSpec& stage, const IterVar& leaf, const IterVar& thread,
                tir::StorageScope scope);

/// Whether the stage runs inside of the thread: a loop of it, or one around it, is that or is bound
/// to it.
bool runs_in(const StageGraph& graph, StageId stage, const tir::ThreadTag& tag);

/// The loops for which single threads compute the stage, each in memory of its own: of every such
/// thread the one, around the stage, that divides the elements of a stage which the threads share.
/// Threads beyond the end of the loop have nothing to compute.
std::vector<AttachPoint> loops_of_owners(const StageGraph& graph, StageId stage);

/// The threads around the stage, outermost last, that share its memory but that no loop of it is
/// bound to: all of them run the whole of it. Storing the same value at once does no harm; adding
/// to one element at once does.
std::vector<IterVar> idle_threads(const StageGraph& graph, StageId stage);

}  // namespace tenon::te
