// Gives a buffer that is filled and used in every iteration of a loop two copies: one is filled for
// the next iteration while the other is used.
//
//   for i in [0, n) { Y[j] = f(i); use(Y[j]) }
//     =>  Y[j] = f(0)
//         for i.outer in [0, n - 1) {
//           Y[(i.outer + 1) % 2 * size + j] = f(i.outer + 1)
//           use(Y[i.outer % 2 * size + j])
//         }
//         use(Y[(n - 1) % 2 * size + j])
//
// A buffer stays single where the filling cannot run ahead: it reads what the same loop computes,
// hangs on a condition, variable or thread axis inside the loop, iterations run side by side, or
// there is no loop.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc inject_double_buffers(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
