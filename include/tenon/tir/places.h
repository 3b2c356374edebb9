// Arguments of intrinsics that are places in memory. They are written as loads, but what counts is
// which element they name, not its value: whoever changes loads keeps them elements of a buffer.
//
//   address_of(A[i])                                               A[i]
//   tvm_thread_allreduce(1, value, true, total[0], threadIdx.x)    total[0], which is written
#pragma once

#include "tenon/tir/expr.h"

namespace tenon::tir {

/// Whether the argument of that number is a place.
bool is_place(const Call& call, std::size_t argument);

}  // namespace tenon::tir
