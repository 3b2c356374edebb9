// Operators of Eigen on plain arrays of float32, as far as this program was built with it.
#pragma once

#include "tenon/tir/expr.h"
#include "tests/bench/common/onednn.h"

namespace tenon::bench {

/// A row-major matrix, a factor and a term for each of its columns, and where the result goes.
struct Map {
  int rows, columns;
  const float* x;
  const float* gamma;
  const float* beta;
  float* y;
};

Call eigen_chain(const Map& m);  // max(x gamma + beta, 0)
Call eigen_relu(const Map& m);
Call eigen_transpose(const Map& m);
Call eigen_row_sums(const Map& m);
Call eigen_column_sums(const Map& m);
Call eigen_softmax(const Map& m);
Call eigen_layer_norm(const Map& m);

}  // namespace tenon::bench
