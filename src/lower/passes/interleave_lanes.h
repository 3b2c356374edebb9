// Vectors that lie in memory with equal gaps, as interleaved channels do, become dense ones and a
// shuffle.
//
//   C[ramp(b, 3, 16)] = x    C[ramp(b + 1, 3, 16)] = y    C[ramp(b + 2, 3, 16)] = z
//   =>   C[ramp(b, 1, 48)] = shuffle([x, y, z], [0, 16, 32, 1, 17, 33, ...])
//
// A gather whose lanes are several such vectors in turn, as a fused axis of channels gives it:
//
//   A[floormod(ramp(0, 1, 48), 3)*n + floordiv(ramp(0, 1, 48), 3)]
//   =>   shuffle([A[ramp(0, 1, 16)], A[ramp(n, 1, 16)], A[ramp(2*n, 1, 16)]], [0, 16, 32, ...])
//
// A gather of elements that one vector holds, as at the edge of an image whose indices are clamped:
//
//   A[max(ramp(-1, 1, 4), broadcast(0, 4)) + broadcast(b, 4)]
//   =>   shuffle([A[ramp(b, 1, 2)], A[ramp(b + 1, 1, 2)]], [0, 0, 1, 3])
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// Two to four vectors at a time. Only where none of the stores changes what a later one reads.
tir::PrimFunc interleave_lanes(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
