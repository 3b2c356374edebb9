// Loops bound to a thread index that a loop around them is bound to already.
//
//   for tx in threadIdx.x(64):                    // 64 threads
//     for ax in threadIdx.x(64):                  // the same 64 again: each copies one element
//       shared[ax] = A[ax]
//     for i in threadIdx.x(8):                    // needs tx: every thread does all 8
//       C[tx, i] = shared[tx] * B[i]
//
// A thread has one value of its index. Such an inner loop is therefore either work that the threads
// share, or work that each of them has for itself.
#pragma once

#include "tenon/tir/stmt.h"

namespace tenon::tir {

/// Whose a buffer of scope "global" is that only one kernel uses: each thread's own, as in what is
/// lowered, or one for all, as the block program says.
enum class KernelMemory : bool { PerThread, Shared };

/// A block program in which loops of the second kind are serial. Threads share the iterations of an
/// inner loop where that gives the same results: each iteration is some thread's, the work is the
/// same whichever thread of the outer loop does it, and what it writes is in memory of all of them.
Stmt serialize_nested_threads(const Stmt& body, KernelMemory memory);

}  // namespace tenon::tir
