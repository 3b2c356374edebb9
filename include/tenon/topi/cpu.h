// Schedules of the library's operators for processors, sized by what the target tells of its
// vectors, registers and caches: plain schedules, to be read and copied.
//
//   te::Tensor C = topi::relu(topi::matmul(A, B));
//   te::Schedule s = topi::cpu::schedule_matmul(C, target.facts());
//   build(s, {A, B, C}, target);
//
// Any extents do. Where they are constants, tiles and panels are chosen for them, and what tiles do
// not divide gets loops of its own.
//
// ScheduleError: the tensor is no operator of the kind, and no map of the elements of one.
#pragma once

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"
#include "tenon/topi/nn.h"

namespace tenon::topi::cpu {

using te::Tensor;
using tir::TargetFacts;

/// For matmul, dense and batch_matmul, transposed or not, and maps of their elements (a bias, an
/// activation), which are computed with the tile that they read.
///
/// A tile of sums stays in registers through the whole reduction (Goto and van de Geijn, "Anatomy
/// of High-Performance Matrix Multiplication"; without their blocking of the reduction, since a
/// panel of B fits the second cache up to some thousands of rows). B is laid out in panels as wide
/// as the tile where the panel is read often enough to pay for it. One row or one column is read as
/// it lies.
///
/// Products of int8 and uint8 that are added up in int32, and of bfloat16 in float32, are left to
/// instructions that add up products of neighbours, where the processor has them (the pragma
/// dot_products): of bfloat16, sums are in the instruction's order, and subnormal factors may count
/// as zeros.
te::Schedule schedule_matmul(const Tensor& out, const TargetFacts& target,
                             SourceLocation where = SourceLocation::current());

/// For conv2d_nchw, group_conv2d_nchw, conv2d_nhwc, and maps of their elements. A tile of sums
/// stays in registers through the whole reduction: some places of a row by vectors of filters,
/// which are laid out in blocks for that; of short reductions, some filters by vectors of places.
te::Schedule schedule_conv2d(const Tensor& out, const TargetFacts& target,
                             SourceLocation where = SourceLocation::current());

/// For conv2d_winograd_nchw, and maps of its elements. Inputs, filters and products are transformed
/// by vectors of channels and filters, and multiplied by tiles of sums that stay in registers. With
/// many tiles, filters are transformed first and then, block by block, some rows of tiles, whose
/// inputs and products stay in the second cache; with fewer tiles than filters, inputs first and
/// then blocks of filters.
te::Schedule schedule_conv2d_winograd(const Tensor& out, const TargetFacts& target,
                                      SourceLocation where = SourceLocation::current());

/// conv2d_nchw in the form that takes the least time, its schedule included, by what extents and
/// target say: conv2d_nchw itself, or conv2d_winograd_nchw with tiles of 2 or 4 where that can be
/// (kernels of 3 x 3 that move by one place, images of constant extents, float32 or float64), which
/// rounds otherwise. Errors are those of conv2d_nchw.
Tensor fastest_conv2d_nchw(const Tensor& x, const Tensor& kernel, const TargetFacts& target,
                           ConvolutionOptions options = {},
                           SourceLocation where = SourceLocation::current());

/// For depthwise_conv2d_nchw, max_pool2d and avg_pool2d, and maps of their elements: some rows of
/// vectors at once, for which what neighbouring windows share is read once. A channel's padding is
/// computed before the channel.
te::Schedule schedule_windows(const Tensor& out, const TargetFacts& target,
                              SourceLocation where = SourceLocation::current());

/// For attention: a block of queries after another, as many as leave their scores in the second
/// cache, so that these are never stored whole.
te::Schedule schedule_attention(const Tensor& out, const TargetFacts& target,
                                SourceLocation where = SourceLocation::current());

/// For softmax, layer_norm and rms_norm over the last dimension, reductions of rows, and whatever
/// else needs of each row of its inputs that row: a row after another is read once and stays in
/// the first cache. Sums are added up by vectors, so that they are rounded in another order.
te::Schedule schedule_rows(const Tensor& out, const TargetFacts& target,
                           SourceLocation where = SourceLocation::current());
/// For sum, max, ... of one tensor over any dimensions: rows as above; columns a piece at a time.
te::Schedule schedule_reduction(const Tensor& out, const TargetFacts& target,
                                SourceLocation where = SourceLocation::current());
/// For maps of elements, broadcasts and the like, which are inlined into one another.
te::Schedule schedule_elementwise(const Tensor& out, const TargetFacts& target,
                                  SourceLocation where = SourceLocation::current());
/// For transpose: by small square tiles, of which rows are read and columns written as vectors.
te::Schedule schedule_transpose(const Tensor& out, const TargetFacts& target,
                                SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi::cpu
