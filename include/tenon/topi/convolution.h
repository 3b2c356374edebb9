// Convolutions beside conv2d_nchw (nn.h): of each channel by itself, of groups of channels, and of
// images whose channels lie side by side.
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

#pragma GCC visibility push(default)

namespace tenon::topi {

/// Tags of the operations.
inline constexpr const char* kDepthwiseConv2dNchw = "depthwise_conv2d_nchw";
inline constexpr const char* kGroupConv2dNchw = "group_conv2d_nchw";
inline constexpr const char* kConv2dNhwc = "conv2d_nhwc";

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

}  // namespace tenon::topi

#pragma GCC visibility pop
