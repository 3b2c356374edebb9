// Convolutions beside conv2d_nchw (nn.h): of each channel by itself, of groups of channels, of
// images whose channels lie side by side, and with fewer multiplications.
//
//   te::Tensor D = topi::depthwise_conv2d_nchw(X, K, {.padding = {1, 1, 1, 1}});
//   te::Tensor G = topi::group_conv2d_nchw(X, K, 4);
//
// Padding is an operation of its own, "T_pad". Axes, types and options are as in nn.h.
//
// TypeError: tensors of another rank; extents that do not fit or are not known to; types that the
// expressions refuse.
#pragma once

#include "tenon/topi/nn.h"

namespace tenon::topi {

/// Tags of the operations.
inline constexpr const char* kDepthwiseConv2dNchw = "depthwise_conv2d_nchw";
inline constexpr const char* kGroupConv2dNchw = "group_conv2d_nchw";
inline constexpr const char* kConv2dNhwc = "conv2d_nhwc";
inline constexpr const char* kConv2dWinogradNchw = "conv2d_winograd_nchw";

/// Images {batch, channel, height, width} by kernels {channel, multiplier, kernel height, kernel
/// width}: every channel gives `multiplier` of the result, which has {batch, channel * multiplier,
/// ...}.
Tensor depthwise_conv2d_nchw(const Tensor& x, const Tensor& kernel, ConvolutionOptions options = {},
                             SourceLocation where = SourceLocation::current());

/// Images {batch, in, height, width} by kernels {out, in / groups, kernel height, kernel width}: in
/// as many groups, each of the result's channels comes from those of its own. in and out must be
/// constant multiples of the groups.
Tensor group_conv2d_nchw(const Tensor& x, const Tensor& kernel, int groups,
                         ConvolutionOptions options = {},
                         SourceLocation where = SourceLocation::current());

/// Images {batch, height, width, in} by kernels {kernel height, kernel width, in, out}, to {batch,
/// height, width, out}.
Tensor conv2d_nhwc(const Tensor& x, const Tensor& kernel, ConvolutionOptions options = {},
                   SourceLocation where = SourceLocation::current());

/// What is computed together, and what lies beside the input.
struct WinogradOptions {
  /// Results of a tile, in height and in width: 2 or 4.
  int tile = 4;
  /// Top, left, bottom, right, of zeros.
  std::array<int, 4> padding = {0, 0, 0, 0};
  /// From 1 to 64. Constant numbers of channels and of filters are filled up to a multiple of it
  /// with zeros, so that vectors of them are whole.
  int channel_multiple = 16;
  /// "T_conv2d_winograd" unless said.
  Name name = "";
};

/// What conv2d_nchw computes of kernels of 3 x 3 that move by one place, with fewer
/// multiplications: (tile + 2)^2 for tile^2 results of a channel and a filter, which are 4 or 2.25
/// for a result in place of 9 (Winograd; Lavin and Gray, "Fast Algorithms for Convolutional Neural
/// Networks", 2015). Both tensors are float32 or float64, images have constant heights and widths,
/// which need not be multiples of the tile.
///
/// Inputs, filters and products are transformed by rows and then by columns, each half an operation
/// of its own: "<name>_input_rows" and "<name>_inputs" {place of the tile, place, tile, channel},
/// of the images with their padding ("T_pad"); "<name>_filter_rows" and "<name>_filters" {.., ..,
/// channel, filter}, of the kernels as a matrix, "<name>_kernel"; "<name>_products" {.., .., tile,
/// filter}; "<name>_result_rows", and "<name>_results" {batch, height, width, filter}, of which
/// `name` is the result.
///
/// Rounding is another than that of conv2d_nchw. Beside exact sums of numbers from -1 to 1, of 16
/// to 1024 channels in float32, the error's root mean square is 0.6 to 0.8 of conv2d_nchw's for
/// tiles of 2, whose sums are shorter, and 4 to 5 times conv2d_nchw's for tiles of 4: of 64
/// channels some 2^-19 of the results'. Where inputs are infinite or not a number, so may be all
/// results of their tiles.
///
/// TypeError, beside those above: kernels of another size, images whose height or width is no
/// constant, other types, two types, options beyond what is said of them.
Tensor conv2d_winograd_nchw(const Tensor& x, const Tensor& kernel, WinogradOptions options = {},
                            SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi
