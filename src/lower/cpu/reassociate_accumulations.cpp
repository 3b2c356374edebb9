// Vectorizes loops that accumulate floats, in addition to what auto_vectorize vectorizes, in
// functions compiled with fast_math.
//
//   for (i, 0, 64) {              allocate lanes[16] {
//     B[0] = B[0] + A[i]    =>      lanes[ramp(0, 1, 16)] = broadcast(0, 16)
//   }                               for (i, 0, 4) { lanes[..] = lanes[..] + A[ramp(i*16, 1, 16)] }
//                                   B[0] = B[0] + (the sum of lanes)
//                                 }
#include "lower/passes.h"

#include "lower/cpu/auto_vectorizer.h"

namespace tenon::lowering {

tir::PrimFunc reassociate_accumulations(const tir::PrimFunc& func, const PassOptions& options) {
  return vectorized(func, options, true);
}

}  // namespace tenon::lowering
