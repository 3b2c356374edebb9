// Operators of oneDNN on plain arrays of float32, as far as this program was built with it.
#pragma once

#include <functional>
#include <optional>

namespace tenon::bench {

using Call = std::optional<std::function<void()>>;

/// How many threads oneDNN uses from then on.
void set_onednn_threads(int threads);

/// Of each row.
Call onednn_softmax(int rows, int columns, const float* x, float* y);
/// With a factor and a term for each column.
Call onednn_layer_norm(int rows, int columns, const float* x, const float* gamma, const float* beta,
                       float* y);
Call onednn_relu(int count, const float* x, float* y);

/// What convolutions take and give, in the order batch, channel, height, width.
struct Convolution {
  int batch, in, height, width, out, kernel, stride = 1, padding = 0;
  bool depthwise = false;
  bool with_relu = false;
  int out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  int out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
};
/// From and to plain arrays; oneDNN's own layouts, and bringing data to and from them, are part of
/// the call. With a bias.
Call onednn_convolution(const Convolution& shape, const float* x, const float* kernel,
                        const float* bias, float* y);

}  // namespace tenon::bench
