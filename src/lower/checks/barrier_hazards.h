// What is wrong with the barriers of a function: the check of synchronize_threads, by another way
// than that pass takes. Uses of shared memory are followed along all ways through the program, in
// sweeps until nothing changes.
#pragma once

#include "tenon/tir/function.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {

/// A violation for every use of shared memory that another thread may have met since the last
/// barrier, and for every barrier that not all threads come to.
std::vector<tir::Violation> find_barrier_hazards(const tir::PrimFunc& func);

}  // namespace tenon::lowering
