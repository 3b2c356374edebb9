// Operators of libraries on plain arrays, of float32 unless a product has other types. A table for
// each library: what it lacks is null.
#pragma once

#include <functional>
#include <string>

#include "tenon/tooling/matrix_libraries.h"

namespace tenon::bench {

/// Null if the library cannot do it.
using Call = std::function<void()>;

/// A row-major matrix, a factor and a term for each of its columns, and where the result goes.
struct Map {
  int rows, columns;
  const float* x;
  const float* gamma;
  const float* beta;
  float* y;
};

/// The shape of a convolution. Its arrays have the order batch, channel, height, width.
struct Convolution {
  int batch, in, height, width, out, kernel, stride = 1, padding = 0;
  bool depthwise = false;
  bool with_relu = false;
  int out_height() const { return (height + 2 * padding - kernel) / stride + 1; }
  int out_width() const { return (width + 2 * padding - kernel) / stride + 1; }
  /// Channels that a filter reads.
  int channels_of_filter() const { return depthwise ? 1 : in; }
};

/// Max pooling, or the mean over windows, which excludes the padding.
struct Pool {
  int batch, channels, height, width, window, stride = 1, padding = 0;
  bool is_mean = false;
  int out_height() const { return (height + 2 * padding - window) / stride + 1; }
  int out_width() const { return (width + 2 * padding - window) / stride + 1; }
};

struct Operators {
  MatrixLibrary library;
  /// Number of threads that it can use; 0: any number.
  int max_threads = 0;

  Call (*product)(const MatrixProduct& p) = nullptr;
  /// With a bias. Bringing data to and from the library's own layouts is part of the call.
  Call (*convolution)(const Convolution& shape, const float* x, const float* kernel,
                      const float* bias, float* y) = nullptr;
  Call (*pool)(const Pool& shape, const float* x, float* y) = nullptr;
  Call (*chain)(const Map& m) = nullptr;  // max(x gamma + beta, 0)
  Call (*relu)(const Map& m) = nullptr;
  Call (*gelu)(const Map& m) = nullptr;
  Call (*transpose)(const Map& m) = nullptr;
  Call (*row_sums)(const Map& m) = nullptr;
  Call (*column_sums)(const Map& m) = nullptr;
  Call (*softmax)(const Map& m) = nullptr;  // over each row
  Call (*layer_norm)(const Map& m) = nullptr;
};

/// Eigen's, by the caller's thread only. Without functions if this program was built without it.
Operators eigen_operators();

}  // namespace tenon::bench
