// Makes loops over registers of vectors that are much wider than registers. For host code; never
// printed.
//
//   B[ramp(0, 1, 4096)] = A[ramp(0, 1, 4096)]*broadcast(x, 4096)
// becomes, for registers of 16 lanes,
//   for (part, 0, 64) {
//     B[ramp(part*64, 1, 64)] = A[ramp(part*64, 1, 64)]*broadcast(x, 64)
//   }
//
// A code generator takes such a vector apart into hundreds of registers, in time that grows faster
// than their number, and then keeps most of them in memory. So it does with the branches that many
// loads under choices become, one for each lane. Remaining lanes take narrower vectors. Where parts
// may read what earlier parts have stored, the whole value is computed into memory of its own
// first, as are vectors that lets name.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc split_wide_vectors(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
