// An independent check of synchronize_threads: a data-flow analysis follows the uses of shared
// memory along all paths through the function until a fixed point is reached.
#pragma once

#include "tenon/tir/function.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {

/// Returns a violation for every use of shared memory that may conflict with a use by another
/// thread since the last barrier, and for every barrier that not all threads reach.
std::vector<tir::Violation> find_barrier_hazards(const tir::PrimFunc& func);

}  // namespace tenon::lowering
