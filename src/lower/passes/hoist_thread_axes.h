// The thread axes of a kernel outermost, each tag once, as devices launch them.
//
//   attr blockIdx.x = 8 {              attr blockIdx.x = 8 attr threadIdx.x = 32 {
//     S[0] = A[blockIdx.x]               if (threadIdx.x == 0) S[0] = A[blockIdx.x]
//     attr threadIdx.x = 32 {...}   =>   {...}
//     attr threadIdx.x = n {...}         if (threadIdx.x < n) {...}
//   }                                  }
//
// The greatest of several extents is launched (here 32, if n is not greater). What stands outside
// of an axis of the block runs once; what stands outside of a block axis runs in every block, if it
// writes memory of the block's own. Conditions stand inside of loops and sequences that use shared
// memory, so that all threads come to the barriers there.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// LowerError: an axis whose extent the launch cannot know.
tir::PrimFunc hoist_thread_axes(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
