// How threads and memory relate: which threads share which memory.
#pragma once

#include "tenon/te/graph.h"

namespace tenon::te {

/// Height in the launch hierarchy: 0 for blocks, 1 for threads of a block, virtual ones among them.
int rank_of(const tir::ThreadTag& tag);
/// Memory of a rank up to that of a thread axis is shared along that axis: 0 Global, 1 Shared, 2 Warp, 3
/// Local and below.
int rank_of(tir::StorageScope scope);

/// Whether all iterations along the thread axis see one copy of the memory.
bool is_shared_along(tir::StorageScope scope, const tir::ThreadTag& tag);

/// Where a stage is kept that is computed under threads of this rank; -1 is under none.
tir::StorageScope default_scope(int thread_rank);

/// The thread axis that the axis of the stage is, or is bound to; null for a plain loop.
const IterVar* thread_of(const StageData& stage, const IterVar& axis);

}  // namespace tenon::te
