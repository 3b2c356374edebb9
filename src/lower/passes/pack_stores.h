// Stores of neighbours, one after another, as stores of vectors: what is left of an unrolled loop
// that nobody vectorised. For host code; never printed.
//
//   B[i*4] = A[i*4] + 1
//   B[i*4 + 1] = A[i*4 + 1] + 1          =>        B[ramp(i*4, 1, 4)] = A[ramp(i*4, 1, 4)] + 1
//   B[i*4 + 2] = A[i*4 + 2] + 1
//   B[i*4 + 3] = A[i*4 + 3] + 1
//
// Values are packed that are made by the same operations, from elements at equal distances, from
// numbers at equal distances, and from what all of them share (superword-level parallelism: Larsen
// and Amarasinghe, 2000). No store of a vector may read what an earlier one of its stores wrote,
// which is proved.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc pack_stores(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
