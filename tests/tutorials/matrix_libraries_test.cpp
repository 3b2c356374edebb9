#include "tenon/tooling/matrix_libraries.h"

#include <gtest/gtest.h>

#include <vector>

namespace tenon {
namespace {

constexpr int kRows = 5, kColumns = 7, kTerms = 3, kBatch = 2;

/// Small integers, whose products every library computes exactly.
template <class T>
std::vector<T> numbers(int count, int step) {
  std::vector<T> all;
  for (int n = 0; n < count; ++n) all.push_back(static_cast<T>(n * step % 11 - 5));
  return all;
}

const MatrixProduct kPlain{
    .m = kRows, .n = kColumns, .k = kTerms, .a = nullptr, .b = nullptr, .c = nullptr};

/// Compares the results of all libraries with those of plain loops.
template <class T>
void expect_right_results(MatrixProduct p) {
  const std::vector<T> a = numbers<T>(kBatch * kRows * kTerms, 3),
                       b = numbers<T>(kBatch * kTerms * kColumns, 5);
  std::vector<T> expected;
  for (int batch = 0; batch < p.batch; ++batch)
    for (int i = 0; i < p.m; ++i)
      for (int j = 0; j < p.n; ++j) {
        T sum = 0;
        for (int k = 0; k < p.k; ++k)
          sum += a[batch * p.m * p.k + (p.transpose_a ? k * p.m + i : i * p.k + k)] *
                 b[batch * p.k * p.n + (p.transpose_b ? j * p.k + k : k * p.n + j)];
        expected.push_back(sum);
      }
  std::vector<T> c(expected.size());
  p.a = a.data(), p.b = b.data(), p.c = c.data();
  for (const LibraryProduct& each : library_products(p, 1)) {
    c.assign(c.size(), T{-1000});
    each.run();
    EXPECT_EQ(c, expected) << each.name;
  }
}

TEST(MatrixLibraries, MultiplyMatrices) { expect_right_results<float>(kPlain); }

TEST(MatrixLibraries, MultiplyTransposedFactors) {
  for (const auto& [a, b] : {std::pair{true, false}, {false, true}, {true, true}}) {
    MatrixProduct p = kPlain;
    p.transpose_a = a, p.transpose_b = b;
    expect_right_results<float>(p);
  }
}

TEST(MatrixLibraries, MultiplyEachMatrixOfABatch) {
  MatrixProduct p = kPlain;
  p.batch = kBatch;
  expect_right_results<float>(p);
}

TEST(MatrixLibraries, MultiplyVectors) {
  for (const bool is_transposed : {false, true})
    for (const bool is_row : {false, true}) {
      MatrixProduct p = kPlain;
      (is_row ? p.m : p.n) = 1;
      p.transpose_a = p.transpose_b = is_transposed;
      p.batch = kBatch;
      expect_right_results<float>(p);
    }
}

TEST(MatrixLibraries, MultiplyFloat64) {
  MatrixProduct p = kPlain;
  p.of_a = p.of_b = Float(64);
  p.batch = kBatch;
  expect_right_results<double>(p);
}

TEST(MatrixLibraries, MultiplyByAPackedFactor) {
  MatrixProduct p = kPlain;
  p.transpose_b = p.is_b_packed = true;
  expect_right_results<float>(p);
}

TEST(MatrixLibraries, TransposeAMatrix) {
  const std::vector<float> x = numbers<float>(kRows * kColumns, 3);
  std::vector<float> expected;
  for (int j = 0; j < kColumns; ++j)
    for (int i = 0; i < kRows; ++i) expected.push_back(x[i * kColumns + j]);
  std::vector<float> y(x.size());
  for (const LibraryProduct& each : library_transposes(kRows, kColumns, x.data(), y.data())) {
    y.assign(y.size(), -1000);
    each.run();
    EXPECT_EQ(y, expected) << each.name;
  }
}

TEST(MatrixLibraries, AreFoundWithTheirVersions) {
  for (const MatrixLibrary& library : matrix_libraries(1)) {
    EXPECT_NE(library.version, "") << library.name;
    EXPECT_NE(library.instruction_set, "") << library.name;
  }
}

}  // namespace
}  // namespace tenon
