// How much a loop program has to do, estimated before it is run: random schedules recompute without
// limit.
//
//   for (i, 0, 8) for (j, 0, i + 1) A[i, j] = 0      // at most 8 * 8 stores of three expressions each
#pragma once

#include <cstdint>

#include "tenon/tir/function.h"

namespace tenon::testing {

/// An upper bound on the statements and expressions that are evaluated if every symbolic size is
/// `symbol`: all loops have their greatest extents, and both sides of branches count.
double work_of(const tir::PrimFunc& func, std::int64_t symbol);

}  // namespace tenon::testing
