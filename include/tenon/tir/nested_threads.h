// Loops bound to a thread index inside another loop bound to the same index.
//
//   for tx in threadIdx.x(64):                    // 64 threads
//     for ax in threadIdx.x(64):                  // the same 64 again: each copies one element
//       shared[ax] = A[ax]
//     for i in threadIdx.x(8):                    // needs tx: every thread does all 8
//       C[tx, i] = shared[tx] * B[i]
//
// A thread index has one value per thread. The iterations of such an inner loop are therefore
// either distributed over the threads, or executed in full by each thread.
#pragma once

#include "tenon/tir/stmt.h"

namespace tenon::tir {

/// Makes an inner loop serial if each thread has to execute all its iterations. An inner loop
/// remains distributed over the threads if this provably gives the same results. The conditions
/// are: there is a thread for each iteration, the body does not depend on the variable of the outer
/// loop, and the body writes only memory that all threads share. `is_global_shared`: whether all
/// threads share a "global" buffer that only one kernel uses, as in block programs. In lowered
/// code, it is private to each thread.
Stmt serialize_nested_threads(const Stmt& body, bool is_global_shared);

}  // namespace tenon::tir
