// Runs iterations of loops that no schedule marked as lanes of vectors. For host code; never
// printed.
//
//   for (i, 0, 100) {                            for (i, 0, 3) {
//     B[i] = A[i*2] + 1                  =>        B[ramp(i*32, 1, 32)] = A[ramp(i*64, 2, 32)] + 1
//   }                                            }
//                                                B[ramp(96, 1, 4)] = A[ramp(192, 2, 4)] + 1
//
// A loop is vectorised if its body is scalar code without side effects, and it is proved that no
// iteration reads or writes what another one writes: every element is then computed from the same
// operands in the same order. The innermost loop comes first; where its iterations depend on each
// other, as those of a sum of floats do, the loop around it, with the inner loop whole in each
// lane. Sums, products, minima and maxima of integers, which may be taken in any order, are
// accumulated by lanes and combined after the loop; those of floats only by
// reassociate_accumulations.
//
// A condition that differs between iterations becomes a vector, whose lanes each take the branch or
// not, where the processor has masked stores. So does one in a loop that vectorize_loops left
// serial for its sake, whatever the stage.
//
// What is left of an extent takes narrower vectors, and at last single iterations.
#include "lower/passes.h"

#include "lower/cpu/auto_vectorizer.h"

namespace tenon::lowering {

tir::PrimFunc auto_vectorize(const tir::PrimFunc& func, const PassOptions& options) {
  return vectorized(func, options, false);
}

}  // namespace tenon::lowering
