// A select, and the right side of `&&` or `||` of vectors, where what is not chosen might fault (a
// load that is not provably in bounds, a call), becomes an if_then_else, by lanes where the
// condition is a vector: a lane evaluates only the side that it chooses.
//
//   select(c, A[ramp(i - 1, 1, 8)], z)   =>   @tir.if_then_else(c, A[ramp(i - 1, 1, 8)], z)
//   c && A[ramp(i - 1, 1, 8)] > z        =>   @tir.if_then_else(c, A[...] > z, broadcast(False, 8))
// In a branch by lanes, loads that might fault are left out where the lane does not take it:
//
//   if c { B[...] = A[...] }             =>   let taken = c
//                                             if taken { B[...] = @tir.if_then_else(taken, A[...], 0) }
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// A select that remains may evaluate both of its sides. Division by zero does not fault, because
/// generated code does not trap.
tir::PrimFunc guard_choices(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
