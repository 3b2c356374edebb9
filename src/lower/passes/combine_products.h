// Makes one operation of products of neighbours that are added up one after the other, inside of
// the pragma dot_products. For host code; never printed.
//
//   S[0] = S[0] + broadcast(cast(int32, A[k]), 16)*cast(int32x16, B[ramp(b, 4, 16)])
//   ... the same of A[k + 1] and B[ramp(b + 1, 4, 16)], k + 2 and b + 2, k + 3 and b + 3
// becomes
//   S[0] = dp4a(A[k], ..., A[k + 3] sixteen times, B[ramp(b, 1, 64)], S[0])
//
// Four products of int8 and uint8 that are added up in 32 bits, in any order since these wrap; two
// of bfloat16 that are added up in float32, in the processor's order, which the pragma allows.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// Changes nothing where code generation does not take dp4a (PassOptions::has_dp4a).
tir::PrimFunc combine_products(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
