// Runs all virtual threads in one: every statement that depends on the thread is done for each of
// them in turn.
//
//   attr [vx] "virtual_thread" = 2 { X[0] = A[vx]; B[vx] = X[0] }
//     =>  X[0] = A[0]; X[1] = A[1]; B[0] = X[0]; B[1] = X[1]
//
// Memory that is allocated inside and holds what depends on the thread gets a copy for each; what
// does not depend on it is done once. A statement is repeated where it is innermost, or where a
// loop, condition or let of its own depends on the thread: fewer than 16 threads become copies
// where no loop is inside, more become a loop `vx.s`. A "cthread" repeats every statement and
// multiplies all memory.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc inject_virtual_threads(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
