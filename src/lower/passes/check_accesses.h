// check_accesses: before each statement, the accesses of it that are not proved to lie inside of
// their buffers are checked, while they still have the user's indices:
//
//   B[i] = A[I[i]]
//
// becomes
//
//   if !(I[i] >= 0 && I[i] < 20)
//     call_packed("tenon_index_outside", "B, gather.cpp:9: reads `A`", 0, I[i], 0, 20)
//   B[i] = A[I[i]]
//
// Throws BoundError for an access that is outside whenever it happens.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc check_accesses(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
