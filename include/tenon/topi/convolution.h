// Convolutions other than conv2d_nchw (nn.h): depthwise, grouped, NHWC and Winograd.
//
//   te::Tensor D = topi::depthwise_conv2d_nchw(X, K, {.padding = {1, 1, 1, 1}});
//   te::Tensor G = topi::group_conv2d_nchw(X, K, 4);
//
// Padding is a separate operation, "T_pad". Axes, types and options are as in nn.h.
//
// TypeError for tensors of another rank, extents that do not or may not match, and types that the
// expressions do not support.
#pragma once

#include "tenon/topi/nn.h"

namespace tenon::topi {

/// Tags of the operations.
inline constexpr const char* kDepthwiseConv2dNchw = "depthwise_conv2d_nchw";
inline constexpr const char* kGroupConv2dNchw = "group_conv2d_nchw";
inline constexpr const char* kConv2dNhwc = "conv2d_nhwc";
inline constexpr const char* kDepthwiseConv2dNhwc = "depthwise_conv2d_nhwc";
inline constexpr const char* kConv2dWinogradNchw = "conv2d_winograd_nchw";
inline constexpr const char* kConv2dWinogradNhwc = "conv2d_winograd_nhwc";

/// Depthwise convolution of images {batch, channel, height, width} with kernels {channel,
/// multiplier, kernel height, kernel width}. Every channel yields `multiplier` channels of the
/// result {batch, channel * multiplier, ...}.
Tensor depthwise_conv2d_nchw(const Tensor& x, const Tensor& kernel, ConvolutionOptions options = {},
                             SourceLocation where = SourceLocation::current());

/// Grouped convolution of images {batch, in, height, width} with kernels {out, in / groups, kernel
/// height, kernel width}. Each output channel depends on the input channels of its group. `in` and
/// `out` must be constant multiples of `groups`.
Tensor group_conv2d_nchw(const Tensor& x, const Tensor& kernel, int groups,
                         ConvolutionOptions options = {},
                         SourceLocation where = SourceLocation::current());

/// Convolution of images {batch, height, width, in} with kernels {kernel height, kernel width, in,
/// out}. The result is {batch, height, width, out}.
Tensor conv2d_nhwc(const Tensor& x, const Tensor& kernel, ConvolutionOptions options = {},
                   SourceLocation where = SourceLocation::current());

/// Depthwise convolution of images {batch, height, width, channel} with kernels {kernel height,
/// kernel width, channel, multiplier}. The result is {batch, height, width, channel * multiplier}.
Tensor depthwise_conv2d_nhwc(const Tensor& x, const Tensor& kernel, ConvolutionOptions options = {},
                             SourceLocation where = SourceLocation::current());

/// Options of Winograd convolutions.
struct WinogradOptions {
  /// Height and width of an output tile: 2 or 4.
  int tile = 4;
  /// Zero padding: top, left, bottom, right.
  std::array<int, 4> padding = {0, 0, 0, 0};
  /// Constant numbers of channels and filters are padded with zeros to a multiple of this number,
  /// so that vectors over them are full. From 1 to 64.
  int channel_multiple = 16;
  /// Name of the result. Default: "T_conv2d_winograd".
  Name name = "";
};

/// Winograd convolution: conv2d_nchw for 3 x 3 kernels with stride and dilation 1, with fewer
/// multiplications. For one channel and one filter, tile^2 results take (tile + 2)^2
/// multiplications: 4 or 2.25 per result instead of 9 (Winograd; Lavin and Gray, "Fast Algorithms
/// for Convolutional Neural Networks", 2015). Both tensors are float32 or both are float64. Images
/// have constant heights and widths, which need not be multiples of the tile.
///
/// Inputs, filters and products are transformed first by rows and then by columns, each as a
/// separate operation. `row` and `column` are a position in a tile. The operations are:
///
///   T_pad            the padded images
///   <name>_inputs    {row, column, tile, channel}, from <name>_input_rows
///   <name>_kernel    the kernels as a matrix
///   <name>_filters   {row, column, channel, filter}, from <name>_filter_rows
///   <name>_products  {row, column, tile, filter}
///   <name>_results   {batch, height, width, filter}, from <name>_result_rows
///   <name>           the result
///
/// The rounding differs from conv2d_nchw. Against exact sums of numbers from -1 to 1, over 16 to
/// 1024 channels in float32, the root-mean-square error is 0.6 to 0.8 times that of conv2d_nchw for
/// tiles of 2, whose sums are shorter, and 4 to 5 times for tiles of 4 (for 64 channels, about
/// 2^-19 of the root-mean-square result). An infinite or NaN input can affect all results of its
/// tile.
///
/// TypeError, in addition to the above, for other kernel sizes, for images of symbolic height or
/// width, for other or differing types, and for invalid options.
Tensor conv2d_winograd_nchw(const Tensor& x, const Tensor& kernel, WinogradOptions options = {},
                            SourceLocation where = SourceLocation::current());

/// conv2d_nhwc in the same way. The kernels need no "<name>_kernel".
Tensor conv2d_winograd_nhwc(const Tensor& x, const Tensor& kernel, WinogradOptions options = {},
                            SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi
