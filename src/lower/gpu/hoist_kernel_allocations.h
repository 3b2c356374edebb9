// Memory of a block at the top of its kernel, where OpenCL wants it.
#pragma once

#include <vector>

#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// A kernel's body with its allocations of shared and warp memory outermost; that of single threads
/// stays. `axes` are the kernel's thread axes. Throws LowerError for global memory, which kernels
/// cannot allocate, and for memory without a size that is known before the launch.
tir::Stmt hoist_kernel_allocations(const tir::Stmt& body,
                                   const std::vector<const tir::Attr*>& axes);

}  // namespace tenon::lowering
