#include "tenon/topi/convolution.h"

#include "tenon/te/reduce.h"
#include "topi/windows.h"

namespace tenon::topi {

namespace {

using Indices = std::span<const Var>;

/// What a convolution is of, and how it is called in errors.
struct Convolution {
  std::string name, what;
  Window window;
  Tensor source;
  te::IterVar h, w;

  /// `size` are the places of the kernel's height and width among its dimensions.
  Convolution(const char* function, const char* unnamed, const Tensor& x, const Tensor& kernel,
              const std::array<std::size_t, 2>& size, Layout layout,
              const ConvolutionOptions& options, const SourceLocation& where)
      : name(or_else(options.name, unnamed)),
        what(describe_two(function, name, x, kernel)),
        window(checked_window(what, x, kernel, size, layout, options, where)),
        source(padded(x, window, 0, where)),
        h(te::reduce_axis({0, window.size[0]}, "kh", where)),
        w(te::reduce_axis({0, window.size[1]}, "kw", where)) {}

 private:
  static Window checked_window(const std::string& what, const Tensor& x, const Tensor& kernel,
                               const std::array<std::size_t, 2>& size, Layout layout,
                               const ConvolutionOptions& options, const SourceLocation& where) {
    for (const Tensor* t : {&x, &kernel}) check_rank(what, *t, 4, where);
    const Window window{{kernel.shape()[size[0]], kernel.shape()[size[1]]},
                        options.stride,
                        options.dilation,
                        options.padding,
                        layout};
    check_window(what, window, where);
    return window;
  }
};

/// A quotient of extents that has no rest; a channel's part where it is of channels.
std::int64_t multiple_of(const std::string& what, const Tensor& x, std::size_t dimension,
                         int groups, const SourceLocation& where) {
  const std::optional<std::int64_t> extent = tir::constant_int(x.shape()[dimension]);
  if (!extent || *extent % groups != 0)
    throw TypeError(what + ": dimension " + std::to_string(dimension) + " of `" + x.name() +
                        "` must be a constant multiple of the " + std::to_string(groups) +
                        " groups",
                    where);
  return *extent / groups;
}

}  // namespace

Tensor conv2d_nchw(const Tensor& x, const Tensor& kernel, ConvolutionOptions options,
                   SourceLocation where) {
  const Convolution c("conv2d_nchw", "T_conv2d_nchw", x, kernel, {2, 3}, Layout::Nchw, options,
                      where);
  check_same(c.what, x, 1, kernel, 1, where);
  const std::vector<Expr> shape{x.shape()[0], kernel.shape()[0],
                                window_count(c.what, c.window, x, 0, where),
                                window_count(c.what, c.window, x, 1, where)};
  const te::IterVar in = te::reduce_axis({0, x.shape()[1]}, "i", where);
  const auto element = [&](Indices i) {
    const std::vector<Expr> read{i[0], in, c.window.place(0, i[2], c.h),
                                 c.window.place(1, i[3], c.w)};
    const Expr term =
        product(c.source(read, where), kernel(std::vector<Expr>{i[1], in, c.h, c.w}, where),
                options.out_dtype, where);
    return te::sum(Operand(term, where), {in, c.h, c.w});
  };
  return declare(c.what, shape, element, c.name, kConv2dNchw, where);
}

Tensor depthwise_conv2d_nchw(const Tensor& x, const Tensor& kernel, ConvolutionOptions options,
                             SourceLocation where) {
  const Convolution c("depthwise_conv2d_nchw", "T_depthwise_conv2d_nchw", x, kernel, {2, 3},
                      Layout::Nchw, options, where);
  check_same(c.what, x, 1, kernel, 0, where);
  const Expr& multiplier = kernel.shape()[1];
  const bool is_one = tir::is_one(multiplier);
  const std::vector<Expr> shape{
      x.shape()[0], is_one ? x.shape()[1] : product_of(c.what, {x.shape()[1], multiplier}, where),
      window_count(c.what, c.window, x, 0, where), window_count(c.what, c.window, x, 1, where)};
  const auto element = [&](Indices i) {
    const Expr channel = is_one ? Expr(i[1]) : tir::floordiv(i[1], multiplier);
    const Expr which = is_one ? zero_like(i[1]) : tir::floormod(i[1], multiplier);
    const std::vector<Expr> read{i[0], channel, c.window.place(0, i[2], c.h),
                                 c.window.place(1, i[3], c.w)};
    const Expr term =
        product(c.source(read, where), kernel(std::vector<Expr>{channel, which, c.h, c.w}, where),
                options.out_dtype, where);
    return te::sum(Operand(term, where), {c.h, c.w});
  };
  return declare(c.what, shape, element, c.name, kDepthwiseConv2dNchw, where);
}

Tensor group_conv2d_nchw(const Tensor& x, const Tensor& kernel, int groups,
                         ConvolutionOptions options, SourceLocation where) {
  const Convolution c("group_conv2d_nchw", "T_group_conv2d_nchw", x, kernel, {2, 3}, Layout::Nchw,
                      options, where);
  if (groups < 1)
    throw TypeError(c.what + ": groups must be positive, got " + std::to_string(groups), where);
  const std::int64_t ins = multiple_of(c.what, x, 1, groups, where),
                     outs = multiple_of(c.what, kernel, 0, groups, where);
  if (tir::constant_int(kernel.shape()[1]) != ins)
    throw TypeError(c.what + ": dimension 1 of `" + kernel.name() + "` must have extent " +
                        std::to_string(ins) + ", the channels of a group",
                    where);
  const std::vector<Expr> shape{x.shape()[0], kernel.shape()[0],
                                window_count(c.what, c.window, x, 0, where),
                                window_count(c.what, c.window, x, 1, where)};
  const te::IterVar in = te::reduce_axis({0, kernel.shape()[1]}, "i", where);
  const auto element = [&](Indices i) {
    const Expr first = tir::floordiv(i[1], static_cast<int>(outs)) * static_cast<int>(ins);
    const std::vector<Expr> read{i[0], first + in, c.window.place(0, i[2], c.h),
                                 c.window.place(1, i[3], c.w)};
    const Expr term =
        product(c.source(read, where), kernel(std::vector<Expr>{i[1], in, c.h, c.w}, where),
                options.out_dtype, where);
    return te::sum(Operand(term, where), {in, c.h, c.w});
  };
  return declare(c.what, shape, element, c.name, kGroupConv2dNchw, where);
}

Tensor conv2d_nhwc(const Tensor& x, const Tensor& kernel, ConvolutionOptions options,
                   SourceLocation where) {
  const Convolution c("conv2d_nhwc", "T_conv2d_nhwc", x, kernel, {0, 1}, Layout::Nhwc, options,
                      where);
  check_same(c.what, x, 3, kernel, 2, where);
  const std::vector<Expr> shape{x.shape()[0], window_count(c.what, c.window, x, 0, where),
                                window_count(c.what, c.window, x, 1, where), kernel.shape()[3]};
  const te::IterVar in = te::reduce_axis({0, x.shape()[3]}, "i", where);
  const auto element = [&](Indices i) {
    const std::vector<Expr> read{i[0], c.window.place(0, i[1], c.h), c.window.place(1, i[2], c.w),
                                 in};
    const Expr term =
        product(c.source(read, where), kernel(std::vector<Expr>{c.h, c.w, in, i[3]}, where),
                options.out_dtype, where);
    return te::sum(Operand(term, where), {c.h, c.w, in});
  };
  return declare(c.what, shape, element, c.name, kConv2dNhwc, where);
}

}  // namespace tenon::topi
