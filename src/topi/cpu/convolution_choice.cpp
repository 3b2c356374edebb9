// Choice of the fastest form of a convolution (topi/cpu.h).
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tenon/tir/expr.h"
#include "tenon/topi/convolution.h"
#include "tenon/topi/cpu.h"
#include "tenon/topi/parts.h"
#include "tenon/topi/transform.h"
#include "topi/cpu/parts.h"

namespace tenon::topi::cpu {

namespace {

/// The extents {batch, channels, filters, height, width} of a convolution as floating-point
/// numbers, which do not overflow.
using ConvolutionSizes = std::array<double, 5>;

/// Returns the sizes of the convolution. Nullopt unless both the direct and the Winograd form
/// support the options and extents.
std::optional<ConvolutionSizes> sizes_of(Layout layout, const Tensor& x, const Tensor& kernel,
                                         const ConvolutionOptions& options) {
  constexpr int kKernel = 3;
  if (x.ndim() != 4 || kernel.ndim() != 4) return std::nullopt;
  const DataType type = x.dtype();
  const bool is_wide = type == Float(32) || type == Float(64);
  if (!is_wide || kernel.dtype() != type || options.out_dtype.value_or(type) != type)
    return std::nullopt;
  const std::array<int, 2> one{1, 1};
  if (options.stride != one || options.dilation != one) return std::nullopt;
  // Batch, channels, height and width; filters, channels, height and width.
  const bool is_nchw = layout == Layout::Nchw;
  const std::array<std::size_t, 4> in_x = is_nchw ? std::array<std::size_t, 4>{0, 1, 2, 3}
                                                  : std::array<std::size_t, 4>{0, 3, 1, 2},
                                   in_kernel =
                                       is_nchw ? in_x : std::array<std::size_t, 4>{3, 2, 0, 1};
  std::array<double, 8> extents{};
  for (std::size_t n = 0; n < 4; ++n) {
    const std::optional<std::int64_t> of_x = tir::constant_int(x.shape()[in_x[n]]),
                                      of_kernel = tir::constant_int(kernel.shape()[in_kernel[n]]);
    // A batch of unknown size counts as 1, because the gain of the Winograd form grows with the
    // number of images.
    if ((!of_x && n > 0) || !of_kernel) return std::nullopt;
    extents[n] = static_cast<double>(of_x.value_or(1));
    extents[4 + n] = static_cast<double>(*of_kernel);
  }
  if (extents[6] != kKernel || extents[7] != kKernel) return std::nullopt;
  const auto places = [&](std::size_t n) {
    return extents[2 + n] + options.padding[n] + options.padding[2 + n] - (kKernel - 1);
  };
  const double height = places(0), width = places(1);
  // Returns nullopt for invalid options. The caller then declares conv2d_nchw, which reports the
  // error.
  const bool fits = extents[1] == extents[5] && height > 0 && width > 0 &&
                    std::ranges::all_of(options.padding, [](int n) { return n >= 0; });
  if (!fits) return std::nullopt;
  return ConvolutionSizes{extents[0], extents[1], extents[4], height, width};
}

double rounded_up(double value, int multiple) { return std::ceil(value / multiple) * multiple; }

/// Returns the cost of a Winograd convolution with the given tile size. The unit is one
/// multiply-add of the matrix products. The transforms cost `of_filter` per channel of a filter,
/// `of_input` per channel of an input tile, and `of_result` per filter of a result tile.
double winograd_cost(int tile, double of_filter, double of_input, double of_result,
                     const ConvolutionSizes& sizes, int lanes) {
  const auto [batch, channels, filters, height, width] = sizes;
  const double tiles = batch * std::ceil(height / tile) * std::ceil(width / tile),
               places = (tile + 2) * (tile + 2), all_filters = rounded_up(filters, lanes),
               all_channels = rounded_up(channels, lanes);
  return places * tiles * channels * all_filters + of_filter * channels * all_filters +
         tiles * (of_input * all_channels + of_result * all_filters);
}

/// Returns the cost of the direct form. It includes packing the filters, which takes longer if they
/// come from memory.
double direct_cost(const ConvolutionSizes& sizes, int bytes, const TargetFacts& target) {
  constexpr double kTerms = 9, kOfFilter = 80, kFromMemory = 300, kLargeKernels = 4;
  const auto [batch, channels, filters, height, width] = sizes;
  const double planes = channels * filters;
  const bool is_large = planes * kTerms * bytes > kLargeKernels * target.caches.l2;
  return batch * height * width * planes * kTerms + planes * (is_large ? kFromMemory : kOfFilter);
}

/// Returns the options of Winograd's form if it is expected to be faster than the direct one.
std::optional<WinogradOptions> faster_winograd(Layout layout, const Tensor& x, const Tensor& kernel,
                                               const TargetFacts& target,
                                               const ConvolutionOptions& options) {
  const std::optional<ConvolutionSizes> sizes =
      target.is_gpu() ? std::nullopt : sizes_of(layout, x, kernel, options);
  if (!sizes) return std::nullopt;
  constexpr int kMaxLanes = 64;
  const int lanes = std::min(lanes_of(x.dtype(), target), kMaxLanes);
  // The constants were fitted to the times of 48 shapes on a Zen 4 (tests/bench/README.md).
  const double of_2 = winograd_cost(2, 127, 32, 102, *sizes, lanes),
               of_4 = winograd_cost(4, 189, 169, 315, *sizes, lanes);
  if (direct_cost(*sizes, x.dtype().bytes(), target) <= std::min(of_2, of_4)) return std::nullopt;
  return WinogradOptions{.tile = of_2 < of_4 ? 2 : 4,
                         .padding = options.padding,
                         .channel_multiple = lanes,
                         .name = options.name};
}

/// Returns the convolution `direct` of Layout::Nchw as the product of the kernels, {filter,
/// channel}, by the image, {channel, position}. Nullopt unless the kernels are 1 x 1 and the
/// product is expected to be faster than the direct form, which packs the kernels.
std::optional<Tensor> faster_product(const Tensor& direct, const Tensor& x, const Tensor& kernel,
                                     const TargetFacts& target, const ConvolutionOptions& options,
                                     const SourceLocation& where) {
  // Maps of the result load the product from memory. This takes longer than packing the kernels if
  // there are fewer channels.
  constexpr std::int64_t kMinChannels = 96;
  const bool is_pointwise = tir::is_one(kernel.shape()[2]) && tir::is_one(kernel.shape()[3]);
  const bool has_padding = std::ranges::any_of(options.padding, [](int n) { return n > 0; });
  if (!is_pointwise || has_padding || target.is_gpu() || te::is_constant_input(kernel))
    return std::nullopt;
  std::vector<std::int64_t> extents;
  for (const te::Expr& extent : direct.shape()) {
    extents.push_back(tir::constant_int(extent).value_or(0));
    if (extents.back() == 0) return std::nullopt;
  }
  const std::int64_t batch = extents[0], filters = extents[1], places = extents[2] * extents[3];
  const std::int64_t channels = tir::constant_int(kernel.shape()[1]).value_or(0);
  const bool is_known = std::ranges::all_of(
      x.shape(), [](const te::Expr& extent) { return tir::constant_int(extent).has_value(); });
  constexpr int kEnd = std::numeric_limits<int>::max();
  if (!is_known || channels < kMinChannels || places > kEnd) return std::nullopt;
  // A slice drops the positions that the stride skips.
  const auto [down, across] = options.stride;
  const Tensor image = down == 1 && across == 1
                           ? x
                           : strided_slice(x, {0, 0, 0, 0}, {kEnd, kEnd, kEnd, kEnd},
                                           {1, 1, down, across}, "T_strided_slice", where);
  // Threads share the parts of a single product, but whole products of a batch.
  const auto matrices = [&](const Tensor& from, std::int64_t count, std::int64_t rows,
                            std::int64_t columns) {
    std::vector<te::Expr> shape;
    for (const std::int64_t extent : {count, rows, columns})
      shape.push_back(tir::make_int(direct.shape()[0].dtype(), extent));
    if (batch == 1) shape.erase(shape.begin());
    return reshape(from, shape, "T_reshape", where);
  };
  const Tensor product = (batch > 1 ? batch_matmul : matmul)(
      matrices(kernel, 1, filters, channels), matrices(image, batch, channels, places),
      {.out_dtype = options.out_dtype}, where);
  return reshape(product, direct.shape(), direct.name(), where);
}

}  // namespace

Tensor fastest_conv2d_nchw(const Tensor& x, const Tensor& kernel, const TargetFacts& target,
                           ConvolutionOptions options, SourceLocation where) {
  if (auto winograd = faster_winograd(Layout::Nchw, x, kernel, target, options))
    return conv2d_winograd_nchw(x, kernel, std::move(*winograd), where);
  const Tensor direct = conv2d_nchw(x, kernel, options, where);
  return faster_product(direct, x, kernel, target, options, where).value_or(direct);
}

Tensor fastest_conv2d_nhwc(const Tensor& x, const Tensor& kernel, const TargetFacts& target,
                           ConvolutionOptions options, SourceLocation where) {
  if (auto winograd = faster_winograd(Layout::Nhwc, x, kernel, target, options))
    return conv2d_winograd_nhwc(x, kernel, std::move(*winograd), where);
  return conv2d_nhwc(x, kernel, std::move(options), where);
}

}  // namespace tenon::topi::cpu
