// Arguments of intrinsics that denote memory locations (lvalues). They have the form of loads, but
// the intrinsic uses the address of the element, not its value. A rewrite may replace them only by
// other loads of a buffer element.
//
//   address_of(A[i])                                               A[i]
//   tvm_thread_allreduce(1, value, true, total[0], threadIdx.x)    total[0], which is written
#pragma once

#include "tenon/tir/expr.h"

namespace tenon::tir {

/// Whether the argument at this position is a memory location.
bool is_place(const Call& call, std::size_t argument);

}  // namespace tenon::tir
