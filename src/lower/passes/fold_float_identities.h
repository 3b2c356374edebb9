// Additions of zero and products with zero, of floats: for functions that are compiled with
// fast_math.
//
//   B[0] = ((A[0]*0f32) + A[1])       =>   B[0] = A[1]
//   B[0] = (B[0] + (A[2]*0f32))       =>   nothing
//
// `x * 0` is 0 also where x is infinite or not a number, and the sign of a zero may change. That is
// why functions that are compiled without fast_math keep them. Constants that are parts of
// transforms (Winograd's), and that only unrolled loops reveal, leave many of them.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc fold_float_identities(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
