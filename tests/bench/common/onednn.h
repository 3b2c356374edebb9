// Operators of oneDNN on plain arrays, of float32 unless said, as far as this program was built
// with it.
#pragma once

#include <functional>
#include <optional>

#include "tenon/support/data_type.h"
#include "tenon/tir/expr.h"

namespace tenon::bench {

using Call = std::optional<std::function<void()>>;

/// How many threads oneDNN uses from then on.
void set_onednn_threads(int threads);

/// Softmax of each row.
Call onednn_softmax(int rows, int columns, const float* x, float* y);
/// With a factor and a term for each column.
Call onednn_layer_norm(int rows, int columns, const float* x, const float* gamma, const float* beta,
                       float* y);
Call onednn_relu(int count, const float* x, float* y);

/// A product of row-major matrices of narrow numbers, {m, k} by {k, n}: int32 of int8 and uint8,
/// float32 of bfloat16. `lays_out` lets oneDNN choose how the second one lies, and brings it there
/// in every call.
struct NarrowProduct {
  int m, n, k;
  DataType of_a, of_b;
  const void* a;
  const void* b;
  void* c;
};
Call onednn_product(const NarrowProduct& product, bool lays_out);

/// The shape of a convolution. Its arrays have the order batch, channel, height, width.
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
