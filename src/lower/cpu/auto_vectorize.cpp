// Vectorizes scalar loops that no schedule marked. For host code; never printed.
//
//   for (i, 0, 100) {                            for (i, 0, 3) {
//     B[i] = A[i*2] + 1                  =>        B[ramp(i*32, 1, 32)] = A[ramp(i*64, 2, 32)] + 1
//   }                                            }
//                                                B[ramp(96, 1, 4)] = A[ramp(192, 2, 4)] + 1
//
// A loop is vectorized if its body is scalar code without side effects and its iterations are
// provably independent. Every element is then computed from the same operands in the same order.
// The pass tries the innermost loop first. If its iterations depend on each other, as those of a
// float sum do, the pass tries the enclosing loop; each lane then runs the whole inner loop.
// Integer sums, products, minima and maxima are associative, so the lanes accumulate separately and
// are combined after the loop. Only reassociate_accumulations does this for floats.
//
// A condition that differs between iterations becomes a vector condition if the processor has
// masked stores; each lane then takes the branch or skips it. Loops that vectorize_loops left
// serial because of such a condition are also candidates, whatever their stage.
//
// The tail of an extent takes narrower vectors, and finally scalar iterations.
#include "lower/passes.h"

#include "lower/cpu/auto_vectorizer.h"

namespace tenon::lowering {

tir::PrimFunc auto_vectorize(const tir::PrimFunc& func, const PassOptions& options) {
  return vectorized(func, options, false);
}

}  // namespace tenon::lowering
