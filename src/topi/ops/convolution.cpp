#include "tenon/topi/convolution.h"

#include <algorithm>

#include "tenon/te/reduce.h"
#include "tenon/tir/expr.h"
#include "topi/ops/windows.h"

namespace tenon::topi {

namespace {

using Indices = std::span<const Var>;

/// The inputs and options of a convolution. `what` describes it in errors.
struct Convolution {
  const Tensor &x, &kernel;
  const ConvolutionOptions& options;
  const SourceLocation& where;
  std::string name, what;
  Window window;
  Tensor source;
  te::IterVar h, w;

  /// `size` contains the positions of the kernel's height and width among the kernel's dimensions.
  Convolution(const char* function, const char* unnamed, const Tensor& x, const Tensor& kernel,
              const std::array<std::size_t, 2>& size, Layout layout,
              const ConvolutionOptions& options, const SourceLocation& where)
      : x(x),
        kernel(kernel),
        options(options),
        where(where),
        name(or_else(options.name, unnamed)),
        what(describe_two(function, name, x, kernel)),
        window(checked_window(size, layout)),
        source(padded(x, window, 0, where)),
        h(te::reduce_axis({0, window.size[0]}, "kh", where)),
        w(te::reduce_axis({0, window.size[1]}, "kw", where)) {}

  /// Returns the number of windows along the height (0) or the width (1).
  Expr count(std::size_t n) const { return window_count(what, window, x, n, where); }

  /// Returns the sum of products of data elements and kernel elements over the axes.
  Expr sum(const std::vector<Expr>& of_data, const std::vector<Expr>& of_kernel,
           const std::vector<te::IterVar>& axes) const {
    const Expr term =
        product(source(of_data, where), kernel(of_kernel, where), options.out_dtype, where);
    return te::sum(Operand(term, where), axes);
  }

  Tensor declare(const std::vector<Expr>& shape, const std::function<Expr(Indices)>& element,
                 const char* tag) const {
    return topi::declare(what, shape, element, name, tag, where);
  }

  /// The indices from which one result channel is computed: a channel of the data, and the first
  /// two indices of the kernel.
  struct Channel {
    Expr of_data;
    std::array<Expr, 2> of_kernel;
  };

  /// Declares the result in Layout::Nchw with `extent` channels. The sum runs over the axes
  /// `channels`, if any, and over the window.
  Tensor declare_nchw(const Expr& extent, const std::function<Channel(const Var&)>& channel,
                      const std::vector<te::IterVar>& channels, const char* tag) const {
    std::vector<te::IterVar> axes = channels;
    axes.insert(axes.end(), {h, w});
    const auto element = [&](Indices i) {
      const auto [of_data, of_kernel] = channel(i[1]);
      return sum({i[0], of_data, window.place(0, i[2], h), window.place(1, i[3], w)},
                 {of_kernel[0], of_kernel[1], h, w}, axes);
    };
    return declare({x.shape()[0], extent, count(0), count(1)}, element, tag);
  }

 private:
  Window checked_window(const std::array<std::size_t, 2>& size, Layout layout) const {
    for (const Tensor* t : {&x, &kernel}) check_rank(what, *t, 4, where);
    const Window checked{{kernel.shape()[size[0]], kernel.shape()[size[1]]},
                         options.stride,
                         options.dilation,
                         options.padding,
                         layout};
    check_window(what, checked, where);
    return checked;
  }
};

/// Returns the number of channels per group. Throws unless the extent is a constant multiple of
/// `groups`.
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
  const te::IterVar in = te::reduce_axis({0, x.shape()[1]}, "i", where);
  const auto channel = [&](const Var& out) { return Convolution::Channel{in, {out, in}}; };
  return c.declare_nchw(kernel.shape()[0], channel, {in}, kConv2dNchw);
}

Tensor depthwise_conv2d_nchw(const Tensor& x, const Tensor& kernel, ConvolutionOptions options,
                             SourceLocation where) {
  const Convolution c("depthwise_conv2d_nchw", "T_depthwise_conv2d_nchw", x, kernel, {2, 3},
                      Layout::Nchw, options, where);
  check_same(c.what, x, 1, kernel, 0, where);
  const Expr& multiplier = kernel.shape()[1];
  const bool is_one = tir::is_one(multiplier);
  // A multiplier of 0 gives an empty result, so the divisor is never used.
  const Expr divisor = tir::is_zero(multiplier) ? tir::make_int(multiplier.dtype(), 1) : multiplier;
  const auto channel = [&](const Var& out) -> Convolution::Channel {
    if (is_one) return {out, {out, zero_like(out)}};
    const Expr from = tir::floordiv(out, divisor);
    return {from, {from, tir::floormod(out, divisor)}};
  };
  const Expr outs = is_one ? x.shape()[1] : product_of(c.what, {x.shape()[1], multiplier}, where);
  return c.declare_nchw(outs, channel, {}, kDepthwiseConv2dNchw);
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
  const te::IterVar in = te::reduce_axis({0, kernel.shape()[1]}, "i", where);
  const auto channel = [&](const Var& out) {
    const auto of_group = static_cast<int>(std::max<std::int64_t>(outs, 1));
    const Expr first = tir::floordiv(out, of_group) * static_cast<int>(ins);
    return Convolution::Channel{first + in, {out, in}};
  };
  return c.declare_nchw(kernel.shape()[0], channel, {in}, kGroupConv2dNchw);
}

Tensor conv2d_nhwc(const Tensor& x, const Tensor& kernel, ConvolutionOptions options,
                   SourceLocation where) {
  const Convolution c("conv2d_nhwc", "T_conv2d_nhwc", x, kernel, {0, 1}, Layout::Nhwc, options,
                      where);
  check_same(c.what, x, 3, kernel, 2, where);
  const te::IterVar in = te::reduce_axis({0, x.shape()[3]}, "i", where);
  const auto element = [&](Indices i) {
    return c.sum({i[0], c.window.place(0, i[1], c.h), c.window.place(1, i[2], c.w), in},
                 {c.h, c.w, in, i[3]}, {c.h, c.w, in});
  };
  return c.declare({x.shape()[0], c.count(0), c.count(1), kernel.shape()[3]}, element, kConv2dNhwc);
}

}  // namespace tenon::topi
