// Schedules of the library's operators for devices: each binds all that the tensor is computed from
// to blocks and threads, so that `build` makes kernels of it.
//
//   te::Tensor C = topi::matmul(A, B);
//   te::Schedule s = topi::gpu::schedule_matmul(C, target.facts());
//   build(s, {A, B, C}, target);
//
// Any extents do, symbolic ones where no dimension is said to be constant. Where extents are
// constants that whole tiles and vectors divide, memory is read and written by vectors and without
// guards. The target says how many threads a block has and what it may share.
//
// ScheduleError: the tensor is no operator of the kind; more than that operator is to be computed,
// beside what is inlined into it (padding, transposition, maps of elements).
#pragma once

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"

namespace tenon::topi::gpu {

using te::Tensor;
using tir::TargetFacts;

/// For matmul, dense and batch_matmul. The widest tiles are those of the tutorial gpu_matmul: 128 x
/// 128 for a block, 16 x 8 for a thread.
///
/// On CUDA devices that have tensor cores for them, products of float16 and bfloat16 that are added
/// up in float32, and of int8 and uint8 in int32, are left to those where the extents are multiples
/// of 64, 64 and 16 (32 of int8).
te::Schedule schedule_matmul(const Tensor& out, const TargetFacts& target,
                             SourceLocation where = SourceLocation::current());
/// For conv2d_nchw, all extents constant: a block has 8 x 8 places of up to eight filters.
te::Schedule schedule_conv2d(const Tensor& out, const TargetFacts& target,
                             SourceLocation where = SourceLocation::current());
/// For softmax along the last dimension: a block for each row, in one kernel.
te::Schedule schedule_softmax(const Tensor& out, const TargetFacts& target,
                              SourceLocation where = SourceLocation::current());
/// For sum, max, ..., argmax. Where the last dimension is reduced, threads share a row; where it
/// stays, neighbouring threads have neighbouring columns.
te::Schedule schedule_reduction(const Tensor& out, const TargetFacts& target,
                                SourceLocation where = SourceLocation::current());
/// For transpose to other places of the last two dimensions: by way of tiles in shared memory, so
/// that rows are read and written whole.
te::Schedule schedule_transpose(const Tensor& out, const TargetFacts& target,
                                SourceLocation where = SourceLocation::current());
/// For maps of elements, broadcasts and the like: all dimensions as one, by vectors where a vector
/// divides their number.
te::Schedule schedule_elementwise(const Tensor& out, const TargetFacts& target,
                                  SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi::gpu
