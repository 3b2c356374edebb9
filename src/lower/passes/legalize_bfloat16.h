// bfloat16 is kept as the upper 16 bits of a float32, in uint16 memory, and computed in float32.
//
//   B[i] = A[i] + A[i]                                                  // bfloat16
//   B[i] = cast(uint16, (x + bias(x)) >> 16),  x = bits of (float(A[i]) + float(A[i]))
//
// Every operation rounds to nearest even, so that results do not depend on which stages are
// inlined.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// Nothing of type bfloat16 is left but the declarations of parameters, whose data pointers are
/// others then, and fragments of tensor cores.
tir::PrimFunc legalize_bfloat16(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
