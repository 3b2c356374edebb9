// Runs iterations of loops side by side, so that their vector sums stay in registers together
// (unroll-and-jam: Callahan, Cocke, Kennedy, "Estimating interlock and improving balance for
// pipelined architectures", 1988). For host code; never printed.
//
//   for (i, 0, 32) {
//     for (k, 0, 64) {
//       C[ramp(i*16, 1, 16)] = C[ramp(i*16, 1, 16)] + broadcast(A[i*64 + k], 16)*B[ramp(k*16, 1, 16)]
//     }
//   }
// becomes
//   for (i, 0, 4) {
//     for (k, 0, 64) {
//       C[ramp((i*8)*16, 1, 16)] = ...            // rows i*8
//       C[ramp((i*8 + 1)*16, 1, 16)] = ...        // to i*8 + 7: eight sums, and one vector of B for all of
//       them
//     }
//   }
//
// One row at a time waits for each multiply-add before the next, and reads every vector of B once a
// row.
//
// A loop is jammed if it is serial, its extent is constant, all that it stores are vectors, some of
// which are sums that a loop inside adds to several times, and no iteration reads or writes what
// another one writes, which is proved. What an element is computed from, and in which order, stays:
// so do the results, to the last bit.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc jam_loops(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
