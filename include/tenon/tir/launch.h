// The argument layout of launch_kernel, for code that builds launches and code that reads them.
//
//   launch_kernel("add_kernel0", 8, 1, 1, 64, 1, 1, 0, A, B, n)
//                  name          blocks   threads   |  the kernel's arguments
//                                    bytes of dynamic shared memory
//
// All allocations of dynamic shared memory (scope "shared.dyn") in a kernel share one memory block.
// They follow one another in program order, each at a multiple of 32 bytes. The launch and the
// kernel both compute the layout with dynamic_shared_bytes, so that they agree.
#pragma once

#include <cstddef>

#include "tenon/tir/stmt.h"

namespace tenon::tir {

/// Argument positions in launch_kernel: the name; the extents of blockIdx.x, .y, .z and
/// threadIdx.x, .y, .z; the bytes of dynamic shared memory; the kernel's own arguments.
inline constexpr std::size_t kLaunchName = 0;
inline constexpr std::size_t kLaunchExtents = 1;
inline constexpr std::size_t kLaunchSharedBytes = 7;
inline constexpr std::size_t kLaunchArguments = 8;

/// Returns the size of the allocation in bytes, as int64. Meaningless if an extent is negative.
Expr bytes_of(const Allocate& n);
/// Returns the size of the allocation rounded up to the alignment of dynamic shared memory, as
/// int64.
Expr dynamic_shared_bytes(const Allocate& n);

}  // namespace tenon::tir
