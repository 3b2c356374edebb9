// Windows that move over the heights and widths of images: what pooling and convolutions share.
#pragma once

#include <array>

#include "topi/ops/declare.h"

namespace tenon::topi {

/// Where an image's height is among the dimensions; the width is behind it.
enum class Layout : std::size_t { Nchw = 2, Nhwc = 1 };

struct Window {
  std::array<Expr, 2> size;
  std::array<int, 2> stride, dilation;
  /// Top, left, bottom, right.
  std::array<int, 4> padding;
  Layout layout = Layout::Nchw;

  std::size_t dimension(std::size_t n) const { return static_cast<std::size_t>(layout) + n; }
  /// The place that a point of the window reads, of a padded dimension: 0 is height, 1 is width.
  Expr place(std::size_t n, const Expr& index, const Expr& point) const {
    return index * stride[n] + point * dilation[n];
  }
};

/// TypeError: the size, stride or dilation is not positive, the padding is negative.
void check_window(const std::string& what, const Window& window, const SourceLocation& where);

/// How many windows there are in height or width. TypeError: there is surely none.
Expr window_count(const std::string& what, const Window& window, const Tensor& x, std::size_t n,
                  const SourceLocation& where);

/// The image with its padding, in an operation "T_pad"; itself where there is none.
Tensor padded(const Tensor& x, const Window& window, const Operand& value,
              const SourceLocation& where);

}  // namespace tenon::topi
