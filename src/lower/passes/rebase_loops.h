// Lets loops that begin far from 0 begin there, so that the constants in what their variables are
// used for stay small: beside a variable near the end of int32, rewriting would add up constants
// that int32 does not hold. Not for TVM 0.9 text.
//
//   for (i, 2147483636, 2147483638) {          for (i, 0, 2) {
//     A[(7 - (i - 2147483636))] = 0f32    =>     A[(7 - ((i + 2147483636) - 2147483636))] = 0f32
//   }                                          }
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc rebase_loops(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
