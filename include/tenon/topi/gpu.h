// Device schedules of the library's operators. Each schedule binds everything that the tensor
// depends on to blocks and threads, so that `build` generates kernels.
//
//   te::Tensor C = topi::matmul(A, B);
//   te::Schedule s = topi::gpu::schedule_matmul(C, target.facts());
//   build(s, {A, B, C}, target);
//
// All extents are supported, including symbolic ones except where constants are required below. If
// constant extents are multiples of the tiles and vectors, memory is accessed by vectors and
// without guards. The target determines the number of threads and the shared memory of a block.
//
// ScheduleError if the tensor is not an operator that the function schedules, or depends on more
// than that operator and what can be inlined into it (padding, transposes, elementwise maps).
#pragma once

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"

namespace tenon::topi::gpu {

using te::Tensor;
using tir::TargetFacts;

/// Schedules matmul, dense or batch_matmul. The largest tiles, as in the tutorial gpu_matmul, are
/// 128 x 128 per block and 16 x 8 per thread.
///
/// CUDA tensor cores compute products of float16 and bfloat16 accumulated in float32, and of int8
/// and uint8 accumulated in int32. They are used if the device has them for the type, and if m, n
/// and k are multiples of 64, 64 and 16 (32 for int8).
te::Schedule schedule_matmul(const Tensor& out, const TargetFacts& target,
                             SourceLocation where = SourceLocation::current());
/// Schedules conv2d_nchw with constant extents. A block computes up to 8 x 8 positions of up to
/// eight filters, so that their window and coefficients fit in shared memory.
te::Schedule schedule_conv2d(const Tensor& out, const TargetFacts& target,
                             SourceLocation where = SourceLocation::current());
/// Schedules softmax along the last dimension as one kernel, with one block per row.
te::Schedule schedule_softmax(const Tensor& out, const TargetFacts& target,
                              SourceLocation where = SourceLocation::current());
/// Schedules sum, max, ..., argmax. If the last dimension is reduced, threads share a row;
/// otherwise neighbouring threads compute neighbouring columns.
te::Schedule schedule_reduction(const Tensor& out, const TargetFacts& target,
                                SourceLocation where = SourceLocation::current());
/// Schedules a transpose that moves the last two dimensions, through tiles in shared memory, so
/// that reads and writes are contiguous.
te::Schedule schedule_transpose(const Tensor& out, const TargetFacts& target,
                                SourceLocation where = SourceLocation::current());
/// Schedules elementwise maps, broadcasts and similar operations. All dimensions are fused, and
/// vectorized if the number of elements is a multiple of the vector.
te::Schedule schedule_elementwise(const Tensor& out, const TargetFacts& target,
                                  SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi::gpu
