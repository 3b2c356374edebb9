#include "tests/bench/common/operators.h"

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

template <class T>
Call product_of(const MatrixProduct& p) {
  using Factor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using View = Eigen::Map<const Factor>;
  return [=] {
    const std::int64_t of_a = std::int64_t{p.m} * p.k, of_b = std::int64_t{p.k} * p.n,
                       of_c = std::int64_t{p.m} * p.n;
    for (int n = 0; n < p.batch; ++n) {
      const View a(static_cast<const T*>(p.a) + n * of_a, p.transpose_a ? p.k : p.m,
                   p.transpose_a ? p.m : p.k);
      const View b(static_cast<const T*>(p.b) + n * of_b, p.transpose_b ? p.n : p.k,
                   p.transpose_b ? p.k : p.n);
      Eigen::Map<Factor> c(static_cast<T*>(p.c) + n * of_c, p.m, p.n);
      if (p.transpose_a && p.transpose_b) c.noalias() = a.transpose() * b.transpose();
      if (p.transpose_a && !p.transpose_b) c.noalias() = a.transpose() * b;
      if (!p.transpose_a && p.transpose_b) c.noalias() = a * b.transpose();
      if (!p.transpose_a && !p.transpose_b) c.noalias() = a * b;
    }
  };
}

Call product(const MatrixProduct& p) {
  if (p.is_b_packed) return nullptr;
  if (p.of_a == Float(32)) return product_of<float>(p);
  if (p.of_a == Float(64)) return product_of<double>(p);
  return nullptr;
}

Call chain(const Map& m) {
  return [m] { output(m) = ((input(m).rowwise() * factors(m)).rowwise() + terms(m)).max(0.0f); };
}

Call relu(const Map& m) {
  return [m] { output(m) = input(m).max(0.0f); };
}

Call transpose(const Map& m) {
  return [m] { Eigen::Map<Matrix>(m.y, m.columns, m.rows) = input(m).transpose(); };
}

Call row_sums(const Map& m) {
  return [m] {
    Eigen::Map<Eigen::Array<float, Eigen::Dynamic, 1>>(m.y, m.rows) = input(m).rowwise().sum();
  };
}

Call column_sums(const Map& m) {
  return [m] { Eigen::Map<Row>(m.y, m.columns) = input(m).colwise().sum(); };
}

Call softmax(const Map& m) {
  return [m] {
    const auto x = input(m);
    auto y = output(m);
    for (int row = 0; row < m.rows; ++row) {
      y.row(row) = (x.row(row) - x.row(row).maxCoeff()).exp();
      y.row(row) *= 1 / y.row(row).sum();
    }
  };
}

Call layer_norm(const Map& m) {
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

}  // namespace

// Its other threads are OpenMP's, which this program is not built with.
Operators eigen_operators() {
  const std::string version = std::to_string(EIGEN_WORLD_VERSION) + "." +
                              std::to_string(EIGEN_MAJOR_VERSION) + "." +
                              std::to_string(EIGEN_MINOR_VERSION);
  return {.library = {"Eigen", version, Eigen::SimdInstructionSetsInUse()},
          .max_threads = 1,
          .product = product,
          .chain = chain,
          .relu = relu,
          .transpose = transpose,
          .row_sums = row_sums,
          .column_sums = column_sums,
          .softmax = softmax,
          .layer_norm = layer_norm};
}

}  // namespace tenon::bench

#else

namespace tenon::bench {

Operators eigen_operators() { return {.library = {"Eigen", "", ""}, .max_threads = 1}; }

}  // namespace tenon::bench

#endif
