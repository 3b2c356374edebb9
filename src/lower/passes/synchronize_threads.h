// Puts barriers between the threads of a block where one of them reads, or overwrites, shared
// memory that another one may still be writing or reading. For code of devices.
//
//   attr [IterVar(threadIdx.x, ...)] "thread_extent" = 32 {
//     S[threadIdx.x] = A[threadIdx.x]
//     @tir.tvm_storage_sync("shared")                    // S is all there
//     B[threadIdx.x] = S[(31 - threadIdx.x)]
//
// A barrier stands as late as possible, and never where a thread meets only its own elements, which
// is proved. In a loop, the next iteration waits as well before it overwrites what this one reads.
// It stands before a condition rather than at its beginning, so that a loop around waits in each
// iteration or in none. All threads of a block must come to a barrier: under a condition that
// depends on the thread there can be none; LowerError if it would have to stand inside, for shared
// memory that is allocated outside of the threads that use it, and for global memory that one block
// may read while another one writes it (block_races.h): no barrier could help.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc synchronize_threads(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
