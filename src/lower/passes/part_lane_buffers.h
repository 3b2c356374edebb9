// Each access of memory that is allocated inside of a vectorized loop has a buffer of its own, of
// the same memory: the known texts show such a buffer once more for each access.
//
//   allocate(B, float32x4, [1]) {
//     B_1: Buffer(B, float32x4, [1], [])[0] = A[ramp(0, 1, 4)]
//     C[ramp(0, 1, 4)] = B_2: Buffer(B, float32x4, [1], [])[0]
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// Loops that are marked vectorized are still loops.
tir::PrimFunc part_lane_buffers(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
