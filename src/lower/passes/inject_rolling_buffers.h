// Lets a buffer that moves along a loop keep what the iterations before have computed.
//
//   for i { B over [i, i + 3) { B[x] = f(x) for all 3 x; C[i] = B[i] + B[i + 1] + B[i + 2] } }
//     =>  B of 3 elements {
//           for i { if (i < 1 || x is the last of the 3) B[x % 3] = f(x); C[i] = B[i % 3] + ... }
//         }
//
// The buffer's memory goes around the outermost loop that it moves along, one dimension becomes a
// ring; in further dimensions that move along inner loops it keeps the whole span. Only where that
// is proved right: the region moves forward, an element's value and guards depend on its position
// only, every iteration runs, one after the other. Elsewhere the buffer is computed anew in each
// iteration, as without the mark. See the sliding window and storage folding of Halide.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc inject_rolling_buffers(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
