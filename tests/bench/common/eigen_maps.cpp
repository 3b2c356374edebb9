#include "tests/bench/common/eigen_maps.h"

#ifdef TENON_HAVE_EIGEN

#include <Eigen/Dense>

namespace tenon::bench {

namespace {

using Matrix = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Row = Eigen::Array<float, 1, Eigen::Dynamic>;

Eigen::Map<const Matrix> input(const Map& m) { return {m.x, m.rows, m.columns}; }
Eigen::Map<Matrix> output(const Map& m) { return {m.y, m.rows, m.columns}; }
Eigen::Map<const Row> factors(const Map& m) { return {m.gamma, m.columns}; }
Eigen::Map<const Row> terms(const Map& m) { return {m.beta, m.columns}; }

}  // namespace

Call eigen_chain(const Map& m) {
  return [m] { output(m) = ((input(m).rowwise() * factors(m)).rowwise() + terms(m)).max(0.0f); };
}

Call eigen_relu(const Map& m) {
  return [m] { output(m) = input(m).max(0.0f); };
}

Call eigen_transpose(const Map& m) {
  return [m] { Eigen::Map<Matrix>(m.y, m.columns, m.rows) = input(m).transpose(); };
}

Call eigen_row_sums(const Map& m) {
  return [m] {
    Eigen::Map<Eigen::Array<float, Eigen::Dynamic, 1>>(m.y, m.rows) = input(m).rowwise().sum();
  };
}

Call eigen_column_sums(const Map& m) {
  return [m] { Eigen::Map<Row>(m.y, m.columns) = input(m).colwise().sum(); };
}

Call eigen_softmax(const Map& m) {
  return [m] {
    const auto x = input(m);
    auto y = output(m);
    for (int row = 0; row < m.rows; ++row) {
      y.row(row) = (x.row(row) - x.row(row).maxCoeff()).exp();
      y.row(row) *= 1 / y.row(row).sum();
    }
  };
}

Call eigen_layer_norm(const Map& m) {
  return [m] {
    const auto x = input(m);
    auto y = output(m);
    for (int row = 0; row < m.rows; ++row) {
      const float mean = x.row(row).mean();
      const float width = 1 / std::sqrt((x.row(row) - mean).square().mean() + 1e-5f);
      y.row(row) = (x.row(row) - mean) * width * factors(m) + terms(m);
    }
  };
}

}  // namespace tenon::bench

#else

namespace tenon::bench {

Call eigen_chain(const Map&) { return std::nullopt; }
Call eigen_relu(const Map&) { return std::nullopt; }
Call eigen_transpose(const Map&) { return std::nullopt; }
Call eigen_row_sums(const Map&) { return std::nullopt; }
Call eigen_column_sums(const Map&) { return std::nullopt; }
Call eigen_softmax(const Map&) { return std::nullopt; }
Call eigen_layer_norm(const Map&) { return std::nullopt; }

}  // namespace tenon::bench

#endif
