// Replaces what code generators should not have to know by simpler operations. For host code; never
// printed.
//
//   floordiv(a, b), floormod(a, b)  =>  truncdiv(a, b), truncmod(a, b)   where a >= 0 and b > 0 are proved
//   sigmoid(x)                      =>  1 / (1 + exp(-x))
//   q_multiply_shift(x, y, q, s)    =>  rounded product in 64 bits, shifted
//
// Divisions by powers of two stay: they are shifts and masks for every sign.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc lower_intrinsics(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
