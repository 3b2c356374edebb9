// Hoists memory of a block to the top of its kernel, as OpenCL requires.
#pragma once

#include <vector>

#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// Returns the body of a kernel with its allocations of shared and warp memory outermost;
/// thread-local memory is not moved. `axes` are the thread axes of the kernel. Throws LowerError
/// for global memory, which kernels cannot allocate, and for memory whose size is not known before
/// the launch.
tir::Stmt hoist_kernel_allocations(const tir::Stmt& body,
                                   const std::vector<const tir::Attr*>& axes);

}  // namespace tenon::lowering
