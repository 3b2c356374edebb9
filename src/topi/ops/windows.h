// Windows over the heights and widths of images, shared by pooling and convolutions.
#pragma once

#include <array>

#include "tenon/topi/nn.h"
#include "topi/ops/declare.h"

namespace tenon::topi {

/// Returns the position of the height among an image's dimensions. The width follows it.
constexpr std::size_t height_of(Layout layout) { return layout == Layout::Nchw ? 2 : 1; }
/// Returns the position of the channels among an image's dimensions.
constexpr std::size_t channels_of(Layout layout) { return layout == Layout::Nchw ? 1 : 3; }
/// Returns the given extents or indices of an image in the order of its layout.
std::vector<Expr> by_layout(Layout layout, const Expr& image, const Expr& channel, const Expr& y,
                            const Expr& x);

struct Window {
  std::array<Expr, 2> size;
  std::array<int, 2> stride, dilation;
  /// The padding at the top, left, bottom and right.
  std::array<int, 4> padding;
  Layout layout = Layout::Nchw;

  std::size_t dimension(std::size_t n) const { return height_of(layout) + n; }
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
