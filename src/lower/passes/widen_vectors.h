// Makes vectors as wide as the target's registers, where neighbouring iterations continue each
// other's vectors. For host code; never printed.
//
//   for (j, 0, 4) {                                              for (j, 0, 2) {
//     C[ramp(j*8, 1, 8)] = B[ramp(j*8, 1, 8)] * 2            =>    C[ramp(j*16, 1, 16)] = B[ramp(j*16, 1,
//     16)] * 2
//   }                                                            }
//
// A schedule that says 8 lanes is right on every machine and as fast as it can be on each. Every
// element is computed from the same operands in the same order.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc widen_vectors(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
