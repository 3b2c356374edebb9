// How a launch of a kernel is written, for those who make launches and those who read them.
//
//   launch_kernel("add_kernel0", 8, 1, 1, 64, 1, 1, 0, A, B, n)
//                  name          blocks   threads   |  the kernel's arguments
//                                    bytes of dynamic shared memory
//
// Dynamic shared memory (scope "shared.dyn") is one piece of memory for all that a kernel
// allocates there: allocations lie one behind the other in the order in which they stand in the
// kernel, each at a multiple of 32 bytes. The launch and the kernel's code must agree about it, so
// both ask dynamic_shared_bytes.
#pragma once

#include <cstddef>

#include "tenon/tir/stmt.h"

namespace tenon::tir {

/// Where the arguments of launch_kernel stand: the name; the extents of blockIdx.x, .y and .z and
/// of threadIdx.x, .y and .z; the bytes of dynamic shared memory; what the kernel takes.
inline constexpr std::size_t kLaunchName = 0;
inline constexpr std::size_t kLaunchExtents = 1;
inline constexpr std::size_t kLaunchSharedBytes = 7;
inline constexpr std::size_t kLaunchArguments = 8;

/// Bytes of the memory, int64. An extent below zero makes no sense of them.
Expr bytes_of(const Allocate& n);
/// Bytes that a piece of dynamic shared memory takes until the next one may begin, int64.
Expr dynamic_shared_bytes(const Allocate& n);

}  // namespace tenon::tir
