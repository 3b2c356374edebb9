// Puts statements that add to sums in registers next to others that read the same, where the values
// that are read would not all find a register until their last use. For host code; never printed.
//
//   sums[0] += broadcast(A[0])*B[0]; sums[0] += broadcast(A[1])*B[8]; ...     // all of A with half of B,
//   sums[8] += broadcast(A[0])*B[4]; sums[8] += broadcast(A[1])*B[12]; ...    // then with the other half
// becomes
//   sums[0] += broadcast(A[0])*B[0]; sums[8] += broadcast(A[0])*B[4]; ...
//
// Code generators read what is read twice once and keep it; between uses that are far apart it goes
// to the stack and comes back, which costs more than to read it again. The order is that of a list
// scheduler that counts registers (Goodman and Hsu, "Code scheduling and register allocation in
// large basic blocks", 1988). What is added to one sum keeps its order, and so does the result, to
// the last bit.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc order_sums(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
