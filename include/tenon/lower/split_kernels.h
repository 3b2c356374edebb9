// Splits a device function into a host function and the kernels that it launches.
//
//   @main:  attr [blockIdx.x] "thread_extent" = 8      @main:  launch_kernel("main_kernel0",
//             attr [threadIdx.x] "thread_extent" = n  ->          8, 1, 1, n, 1, 1, 0, A, B, n)
//               B[blockIdx.x*n + threadIdx.x] = ...    @main_kernel0(A, B, n): the two attrs, B[...]
//
// A kernel is the code below an outermost thread axis. Its parameters are the data pointers that it
// uses (first parameters of the function in their order, then memory that the host allocates),
// followed by the scalars that it uses; `buffers` has a flat buffer for each pointer. Its body is a
// nest of thread_extent attributes, one per tag, whose extents are constants or expressions of its
// parameters; then allocations of shared memory; then statements, including per-thread memory.
// Global memory that is used between kernels is allocated by the host on the device.
#pragma once

#include <vector>

#include "tenon/tir/function.h"
#include "tenon/tir/target.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {

/// The host function and the kernels that it launches.
struct DeviceProgram {
  tir::PrimFunc host;
  /// `<function>_kernel0`, `_kernel1`, ..., in program order.
  std::vector<tir::PrimFunc> kernels;
};

/// Splits the function. LowerError for
/// - arrays or global memory accessed outside any thread axis (the message names the stage, its
///   loops, and the bind that helps),
/// - an extent that is only known inside the kernel,
/// - more threads, shared memory or registers than the target has,
/// - tensor-core operations that the target lacks, or in which only part of a warp takes part.
DeviceProgram split_kernels(const tir::PrimFunc& func, const tir::TargetFacts& target);

/// Returns the CUDA compute capability, 90 for "sm_90a"; 0 for other devices.
int compute_capability(const tir::TargetFacts& target);

/// Returns violations of the rules for kernels, in addition to those of tir::verify.
std::vector<tir::Violation> verify_kernel(const tir::PrimFunc& kernel);

/// Returns the function with the kernels in place of their launches, for the interpreter.
tir::PrimFunc join_kernels(const DeviceProgram& program);

}  // namespace tenon::lowering
