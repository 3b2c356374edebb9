// Copies from global to shared memory that a double buffer makes one iteration ahead go on while
// the iteration computes:
//
//   for k { attr [S] "double_buffer_write"; S[(k + 1)%2*64 + t] = A[(k + 1)*64 + t];  use(S, k%2) }
//   for k { @tir.ptx_cp_async(S + (k + 1)%2*64 + t, A + (k + 1)*64 + t, 4);           use(S, k%2)
//           @tir.ptx_commit_group();  @tir.ptx_wait_group(0);  @tir.tvm_storage_sync("shared") }
//
// A copy moves 4, 8 or 16 bytes that lie one after another in both memories, at addresses that are
// multiples of so many (arrays begin at multiples of 16 bytes); other stores stay as they are, and
// so do those of what the same iteration reads, such as a cache in between. The threads wait in the
// end of each iteration: first each for its own copies, then for each other. Only loops that all
// threads of a block go through together are changed, and nothing is where barriers would not
// suffice (barrier_hazards.h): a copy is under way until it is waited for, which a barrier in the
// midst of the iteration does not do.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc inject_async_copies(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
