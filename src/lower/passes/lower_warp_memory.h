// Memory of a warp, which lies along threadIdx.x, as shared memory with a part for every warp.
//
//   attr threadIdx.y = 4 attr threadIdx.x = 32 { allocate W[32] (warp):  ... W[i] ... }
//   =>  allocate W[128] (shared):  ... W[threadIdx.y*32 + i] ...
//
// Threads may read what others of their warp have written, like in shared memory; the barriers that
// this takes come later.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// LowerError: memory or a number of threads that is not constant.
tir::PrimFunc lower_warp_memory(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
