#include "topi/ops/windows.h"

#include <algorithm>

#include "tenon/tir/expr.h"
#include "tenon/topi/parts.h"

namespace tenon::topi {

std::vector<Expr> by_layout(Layout layout, const Expr& image, const Expr& channel, const Expr& y,
                            const Expr& x) {
  if (layout == Layout::Nchw) return {image, channel, y, x};
  return {image, y, x, channel};
}

void check_window(const std::string& what, const Window& window, const SourceLocation& where) {
  for (std::size_t n = 0; n < 2; ++n) {
    const std::optional<std::int64_t> size = tir::constant_int(window.size[n]);
    if (size && *size < 1)
      throw TypeError(what + ": the window has an extent of " + std::to_string(*size), where);
    if (window.stride[n] < 1 || window.dilation[n] < 1)
      throw TypeError(what + ": stride and dilation must be positive, got " +
                          std::to_string(window.stride[n]) + " and " +
                          std::to_string(window.dilation[n]),
                      where);
  }
  for (int count : window.padding)
    if (count < 0)
      throw TypeError(what + ": the padding must not be negative, got " + std::to_string(count),
                      where);
}

Expr window_count(const std::string& what, const Window& window, const Tensor& x, std::size_t n,
                  const SourceLocation& where) {
  const Expr& extent = x.shape()[window.dimension(n)];
  const Expr whole = sum_of(what, {extent, window.padding[n], window.padding[2 + n]}, where);
  const Expr to_last = product_of(what, {window.size[n] - 1, window.dilation[n]}, where);
  const std::optional<std::int64_t> places = tir::constant_int(whole),
                                    last = tir::constant_int(to_last);
  if (places && last && *last >= *places)
    throw TypeError(what + ": the window covers " + std::to_string(*last + 1) +
                        " places of dimension " + std::to_string(window.dimension(n)) +
                        ", which has " + std::to_string(*places) + " with its padding",
                    where);
  // `-last` is added in the same sum as the padding. The terms of "same" padding then cancel, and
  // even a symbolic extent stays unchanged.
  const Expr room =
      last ? sum_of(what, {extent, window.padding[n], window.padding[2 + n], -*last}, where)
           : whole - to_last;
  return window.stride[n] == 1 ? room : tir::floordiv(room - 1, window.stride[n]) + 1;
}

Tensor padded(const Tensor& x, const Window& window, const Operand& value,
              const SourceLocation& where) {
  const bool is_padded = std::ranges::any_of(window.padding, [](int n) { return n > 0; });
  if (!is_padded) return x;
  std::vector<Expr> before(4, 0), after(4, 0);
  for (std::size_t n = 0; n < 2; ++n) {
    before[window.dimension(n)] = window.padding[n];
    after[window.dimension(n)] = window.padding[2 + n];
  }
  return pad(x, before, after, value, "T_pad", where);
}

}  // namespace tenon::topi
