// Windows over the heights and widths of images, shared by pooling and convolutions.
#pragma once

#include <array>

#include "topi/ops/declare.h"

namespace tenon::topi {

/// The layout of images. Its value is the position of the height dimension; the width follows it.
enum class Layout : std::size_t { Nchw = 2, Nhwc = 1 };

struct Window {
  std::array<Expr, 2> size;
  std::array<int, 2> stride, dilation;
  /// The padding at the top, left, bottom and right.
  std::array<int, 4> padding;
  Layout layout = Layout::Nchw;

  std::size_t dimension(std::size_t n) const { return static_cast<std::size_t>(layout) + n; }
  /// Returns the position in the padded image that a point of a window reads. `n` is 0 for the
  /// height and 1 for the width.
  Expr place(std::size_t n, const Expr& index, const Expr& point) const {
    return index * stride[n] + point * dilation[n];
  }
};

/// Throws TypeError if a size, stride or dilation is not positive or a padding is negative.
void check_window(const std::string& what, const Window& window, const SourceLocation& where);

/// Returns the number of windows along the height (n = 0) or width (n = 1). Throws TypeError if it
/// is provably zero.
Expr window_count(const std::string& what, const Window& window, const Tensor& x, std::size_t n,
                  const SourceLocation& where);

/// Returns the image padded with `value`, as an operation "T_pad". Returns the image itself if
/// there is no padding.
Tensor padded(const Tensor& x, const Window& window, const Operand& value,
              const SourceLocation& where);

}  // namespace tenon::topi
