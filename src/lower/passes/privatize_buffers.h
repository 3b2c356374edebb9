// Moves small memory into the innermost loop of which every iteration fills it anew, so that
// iterations have nothing in common (array privatization: Tu, Padua, "Automatic array
// privatization", 1993). For host code; never printed.
//
//   allocate(Y, float32, [4]) {
//     for (j, 0, 32) {
//       Y[ramp(0, 1, 4)] = broadcast(0f32, 4)
//       for (k, 0, 128) { Y[ramp(0, 1, 4)] = Y[ramp(0, 1, 4)] + ...j...k... }
//       C[ramp(j*4, 1, 4)] = Y[ramp(0, 1, 4)]
//     }
//   }
// becomes
//   for (j, 0, 32) {
//     allocate(Y, float32, [4]) {
//       Y[ramp(0, 1, 4)] = broadcast(0f32, 4)
//       ...
//
// Iterations of the loop can then run side by side, each with a copy of its own, and vectors of
// neighbouring iterations can become one (widen_vectors, jam_loops).
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc privatize_buffers(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
