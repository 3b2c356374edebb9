// A function for a device becomes a function of the host and the kernels that it launches.
//
//   @main:  attr [blockIdx.x] "thread_extent" = 8      @main:  launch_kernel("main_kernel0",
//             attr [threadIdx.x] "thread_extent" = n  ->          8, 1, 1, n, 1, 1, 0, A, B, n)
//               B[blockIdx.x*n + threadIdx.x] = ...    @main_kernel0(A, B, n): the two attrs, B[...]
//
// A kernel is what stands below an outermost thread axis. Its parameters are the data pointers that
// it uses (those of the function's parameters in their order, then those of memory that the host
// allocates), then the numbers that it uses; `buffers` holds a flat buffer for every pointer. Its
// body is a nest of thread_extent attributes, one for every tag, whose extents are constants or
// made of its parameters; then allocations of shared memory; then statements, with memory of single
// threads among them. Global memory between kernels stays with the host, which allocates memory of
// the device for it.
#pragma once

#include <vector>

#include "tenon/tir/function.h"
#include "tenon/tir/target.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {

/// What runs on the host, and what it launches.
struct DeviceProgram {
  tir::PrimFunc host;
  /// `<function>_kernel0`, `_kernel1`, ..., in the order in which they stand in the function.
  std::vector<tir::PrimFunc> kernels;
};

/// LowerError: elements of arrays or global memory that are used outside of any thread axis, with
/// the stage, its loops, and the bind that would help; an extent that is only known inside of the
/// kernel; more threads, shared memory or registers than the target has; operations of tensor cores
/// that the target does not have, or that not the whole of a warp takes part in.
DeviceProgram split_kernels(const tir::PrimFunc& func, const tir::TargetFacts& target);

/// 90 of "sm_90a"; 0 of other devices than CUDA's.
int compute_capability(const tir::TargetFacts& target);

/// What is wrong with a kernel, beyond what tir::verify finds.
std::vector<tir::Violation> verify_kernel(const tir::PrimFunc& kernel);

/// The function before the split, for the interpreter: kernels in place of their launches.
tir::PrimFunc join_kernels(const DeviceProgram& program);

}  // namespace tenon::lowering
