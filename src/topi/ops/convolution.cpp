#include "tenon/topi/convolution.h"

#include <algorithm>

#include "tenon/te/reduce.h"
#include "tenon/tir/expr.h"
#include "topi/ops/windows.h"

namespace tenon::topi {

namespace {

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

  /// The indices from which one result channel is computed: a channel of the data, and the two
  /// indices of the kernel that are not its height and width.
  using Channel = std::pair<Expr, std::array<Expr, 2>>;

  /// Declares the result with `extent` channels, in the layout of the image. The sum runs over
  /// `axes`.
  Tensor declare(const Expr& extent, const std::function<Channel(const Var&)>& channel,
                 const std::vector<te::IterVar>& axes, const char* tag) const {
    const Layout layout = window.layout;
    const auto element = [&](Indices i) {
      const auto [of_data, of_kernel] = channel(i[channels_of(layout)]);
      const auto place = [&](std::size_t n, const te::IterVar& point) {
        return window.place(n, i[window.dimension(n)], point);
      };
      std::vector<Expr> at{h, w};
      at.insert(layout == Layout::Nchw ? at.begin() : at.end(), of_kernel.begin(), of_kernel.end());
      const Expr data = source(by_layout(layout, i[0], of_data, place(0, h), place(1, w)), where);
      const Expr term = product(data, kernel(at, where), options.out_dtype, where);
      return te::sum(Operand(term, where), axes);
    };
    return topi::declare(what, by_layout(layout, x.shape()[0], extent, count(0), count(1)), element,
                         name, tag, where);
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

/// Declares a depthwise convolution. `channels` is the position of the channels among the kernel's
/// dimensions; the multiplier follows it.
Tensor depthwise(const Convolution& c, std::size_t channels, const char* tag) {
  const std::size_t of_x = channels_of(c.window.layout);
  check_same(c.what, c.x, of_x, c.kernel, channels, c.where);
  const Expr& multiplier = c.kernel.shape()[channels + 1];
  const bool is_one = tir::is_one(multiplier);
  // A multiplier of 0 gives an empty result, so the divisor is never used.
  const Expr divisor = tir::is_zero(multiplier) ? tir::make_int(multiplier.dtype(), 1) : multiplier;
  const auto channel = [&](const Var& out) -> Convolution::Channel {
    if (is_one) return {out, {out, zero_like(out)}};
    const Expr from = tir::floordiv(out, divisor);
    return {from, {from, tir::floormod(out, divisor)}};
  };
  const Expr& ins = c.x.shape()[of_x];
  const Expr outs = is_one ? ins : product_of(c.what, {ins, multiplier}, c.where);
  return c.declare(outs, channel, {c.h, c.w}, tag);
}

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
  const auto channel = [&](const Var& out) { return Convolution::Channel(in, {out, in}); };
  return c.declare(kernel.shape()[0], channel, {in, c.h, c.w}, kConv2dNchw);
}

Tensor depthwise_conv2d_nchw(const Tensor& x, const Tensor& kernel, ConvolutionOptions options,
                             SourceLocation where) {
  return depthwise(Convolution("depthwise_conv2d_nchw", "T_depthwise_conv2d_nchw", x, kernel,
                               {2, 3}, Layout::Nchw, options, where),
                   0, kDepthwiseConv2dNchw);
}

Tensor depthwise_conv2d_nhwc(const Tensor& x, const Tensor& kernel, ConvolutionOptions options,
                             SourceLocation where) {
  return depthwise(Convolution("depthwise_conv2d_nhwc", "T_depthwise_conv2d_nhwc", x, kernel,
                               {0, 1}, Layout::Nhwc, options, where),
                   2, kDepthwiseConv2dNhwc);
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
    return Convolution::Channel(first + in, {out, in});
  };
  return c.declare(kernel.shape()[0], channel, {in, c.h, c.w}, kGroupConv2dNchw);
}

Tensor conv2d_nhwc(const Tensor& x, const Tensor& kernel, ConvolutionOptions options,
                   SourceLocation where) {
  const Convolution c("conv2d_nhwc", "T_conv2d_nhwc", x, kernel, {0, 1}, Layout::Nhwc, options,
                      where);
  check_same(c.what, x, 3, kernel, 2, where);
  const te::IterVar in = te::reduce_axis({0, x.shape()[3]}, "i", where);
  const auto channel = [&](const Var& out) { return Convolution::Channel(in, {in, out}); };
  return c.declare(kernel.shape()[3], channel, {c.h, c.w, in}, kConv2dNhwc);
}

}  // namespace tenon::topi
