// Keeps the vectors that a loop, or a run of statements, adds to in memory of their own meanwhile,
// which code generators keep in registers (scalar replacement: Callahan, Carr, Kennedy, "Improving
// register allocation for subscripted variables", 1990). For host code; never printed.
//
//   for (k, 0, 4) {
//     C[ramp(i*64, 1, 16)] = C[ramp(i*64, 1, 16)] + A[..k..]
//   }
// becomes
//   allocate(sums: Pointer(local float32), float32, [16]), storage_scope = local {
//     sums[ramp(0, 1, 16)] = C[ramp(i*64, 1, 16)]
//     for (k, 0, 4) {
//       sums[ramp(0, 1, 16)] = sums[ramp(0, 1, 16)] + A[..k..]
//     }
//     C[ramp(i*64, 1, 16)] = sums[ramp(0, 1, 16)]
//   }
//
// The proof that nothing else in the loop touches those elements is made here, where loops and
// indices are still whole; a code generator sees addresses, and gives up on a dozen of them.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc localize_sums(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
