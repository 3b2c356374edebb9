// Races between the blocks of a launch. A barrier orders the threads of one block; nothing orders
// blocks, so a block may read an element of global memory only if no other block of the launch
// writes it, or if it has written the element before itself:
//
//   attr blockIdx.x = 4 {
//     B[blockIdx.x] = 1          // each block its own element
//     for (t, 0, 8) {
//       X[t + 1] = X[t]*2        // every block computes all of X
//       if (blockIdx.x == 0)
//         Y[t] = X[t]
//       Z[blockIdx.x] = Y[t]     // refused: block 1 reads what block 0 writes
//     }
#pragma once

#include "tenon/tir/function.h"

namespace tenon::lowering {

/// Throws LowerError unless each element that a block of the kernel reads is proved to be written
/// by no other block, or by every block in the same way and before the read. `kernel` is a
/// statement of `func` with its thread axes outermost.
void refuse_block_races(const tir::Stmt& kernel, const tir::PrimFunc& func);

}  // namespace tenon::lowering
