// CPU schedules of the library's operators, which derive tile sizes from the target's vectors,
// registers and caches. They use only public primitives and can be read and copied.
//
//   te::Tensor C = topi::relu(topi::matmul(A, B));
//   te::Schedule s = topi::cpu::schedule_matmul(C, target.facts());
//   build(s, {A, B, C}, target);
//
// All extents are supported. For constant extents, tiles and panels are chosen to fit, and tails
// get separate loops.
//
// ScheduleError if the tensor is neither an operator that the function schedules, nor an
// elementwise map of such an operator.
#pragma once

#include "tenon/te/schedule.h"
#include "tenon/tir/target.h"
#include "tenon/topi/nn.h"

namespace tenon::topi::cpu {

using te::Tensor;
using tir::TargetFacts;

/// Schedules matmul, dense or batch_matmul, transposed or not, and elementwise maps of them (a
/// bias, an activation), which are computed per tile.
///
/// A tile of accumulators stays in registers during the whole reduction (Goto and van de Geijn,
/// "Anatomy of High-Performance Matrix Multiplication"; the reduction is not blocked, because a
/// panel of B fits the second-level cache up to some thousands of rows). B is packed into panels as
/// wide as the tile if the panel is read often enough to pay for it. A single row or column is read
/// in place.
///
/// Products of int8 and uint8 accumulated in int32, and of bfloat16 in float32, use dot-product
/// instructions if the processor has them (the pragma dot_products). For bfloat16, the order of the
/// sum is then the instruction's, and subnormal factors may count as zeros.
te::Schedule schedule_matmul(const Tensor& out, const TargetFacts& target,
                             SourceLocation where = SourceLocation::current());

/// Schedules conv2d_nchw, group_conv2d_nchw or conv2d_nhwc, and elementwise maps of them. A tile of
/// accumulators stays in registers during the whole reduction. The tile covers several positions of
/// a row, and its vectors hold filters, which are packed into blocks. For short reductions, the
/// tile covers several filters, and its vectors hold positions.
te::Schedule schedule_conv2d(const Tensor& out, const TargetFacts& target,
                             SourceLocation where = SourceLocation::current());

/// Schedules conv2d_winograd_nchw or conv2d_winograd_nhwc, and elementwise maps of it. The
/// transforms are vectorized over channels and filters. The products are computed in tiles of
/// accumulators that stay in registers. With many tiles, all filters are transformed first,
/// followed by blocks of tile rows whose inputs and products stay in the second-level cache. With
/// fewer tiles than filters, all inputs are transformed first, followed by blocks of filters.
te::Schedule schedule_conv2d_winograd(const Tensor& out, const TargetFacts& target,
                                      SourceLocation where = SourceLocation::current());

/// Declares conv2d_nchw in the form that is expected to be fastest with its schedule, judged by
/// extents and target. The forms are:
/// - conv2d_nchw itself;
/// - for 1 x 1 kernels without padding, a reshaped matmul or batch_matmul;
/// - for 3 x 3 kernels with stride and dilation 1, constant extents of the images, and float32 or
///   float64, conv2d_winograd_nchw with tiles of 2 or 4, whose rounding differs.
/// Throws the errors of conv2d_nchw.
Tensor fastest_conv2d_nchw(const Tensor& x, const Tensor& kernel, const TargetFacts& target,
                           ConvolutionOptions options = {},
                           SourceLocation where = SourceLocation::current());
/// Like fastest_conv2d_nchw, for conv2d_nhwc and conv2d_winograd_nhwc.
Tensor fastest_conv2d_nhwc(const Tensor& x, const Tensor& kernel, const TargetFacts& target,
                           ConvolutionOptions options = {},
                           SourceLocation where = SourceLocation::current());

/// Schedules depthwise convolutions, max_pool2d or avg_pool2d, and elementwise maps of them.
/// Neighbouring windows are computed together, so that inputs that they share are loaded once.
/// Vectors span positions of Layout::Nchw, where the padding of a channel is computed just before
/// the channel, and channels of Layout::Nhwc, where the padding is inlined.
te::Schedule schedule_windows(const Tensor& out, const TargetFacts& target,
                              SourceLocation where = SourceLocation::current());

/// Schedules attention in blocks of queries. The scores of a block fit the second-level cache, so
/// that the scores are never stored in full.
te::Schedule schedule_attention(const Tensor& out, const TargetFacts& target,
                                SourceLocation where = SourceLocation::current());

/// Schedules softmax, layer_norm and rms_norm over the last dimension, reductions of rows, and
/// other computations in which a row of the result depends on one row of each input. Each row is
/// read once and stays in the first-level cache. Sums are vectorized, which changes the order of
/// rounding.
te::Schedule schedule_rows(const Tensor& out, const TargetFacts& target,
                           SourceLocation where = SourceLocation::current());
/// Schedules a reduction (sum, max, ...) of one tensor over any dimensions: rows as in
/// schedule_rows, columns in blocks.
te::Schedule schedule_reduction(const Tensor& out, const TargetFacts& target,
                                SourceLocation where = SourceLocation::current());
/// Schedules elementwise maps, broadcasts and similar operations, which are inlined into one
/// another.
te::Schedule schedule_elementwise(const Tensor& out, const TargetFacts& target,
                                  SourceLocation where = SourceLocation::current());
/// Schedules a transpose in small square tiles, which are read by rows and written by columns as
/// vectors.
te::Schedule schedule_transpose(const Tensor& out, const TargetFacts& target,
                                SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi::cpu
