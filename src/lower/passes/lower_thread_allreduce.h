// Reductions across threads as steps that devices have.
//
//   reduce_temp0[0] = tvm_thread_allreduce(1, value, condition, threadIdx.x)       of 6 threads
//   =>  red0[t] = if_then_else(condition, value, identity)
//       if (t < 3) red1[t] = red0[2*t] + red0[2*t + 1]
//       if (t < 2) red2[t] = if_then_else(2*t + 1 < 3, red1[2*t] + red1[2*t + 1], red1[2*t])
//       if (t < 1) red3[t] = red2[0] + red2[1]
//       reduce_temp0[0] = red3[0]
//
// (Barriers come later.) Values are combined in the order of the threads, that of the call's last
// axis innermost, so that a reducer that tells its sides apart (the first of equal maxima) gives
// what a loop gives. Where warps exchange values (PassOptions::warp_size), threads that are
// neighbours in a warp do so, and warps through shared memory.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// LowerError: the number of threads is not constant.
tir::PrimFunc lower_thread_allreduce(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
