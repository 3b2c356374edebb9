// Rows of the benchmarks that compare topi's schedules with libraries on the same arrays.
#pragma once

#include <string>
#include <vector>

#include "tests/bench/common/operators.h"
#include "tests/bench/common/program.h"

namespace tenon::bench {

struct ProductShape {
  int m, n, k;
  bool transpose_a = false, transpose_b = false;
  /// Types of the factors.
  DataType of_a = Float(32), of_b = Float(32);
  /// Number of products of this shape; 0: one, of matrices without a batch dimension.
  int batch = 0;
  /// Whether the libraries have packed B before. Tenon packs it in the call.
  bool is_b_packed = false;
};
/// A product by topi::cpu::schedule_matmul.
Row row_of(const ProductShape& shape);

/// Forms of a convolution: what topi::cpu::fastest_conv2d_nchw chooses, or a given one.
enum class Form { Fastest, Direct, WinogradOf2, WinogradOf4 };
/// A convolution with a bias. Operations are counted as the direct form has them. The name has the
/// padding unless that is half of the kernel.
Row row_of(const Convolution& shape, Form form = Form::Fastest);
Row row_of(const Pool& shape);

/// Names of the operators on matrices: "chain", "softmax", ...
std::vector<std::string> names_of_maps();
/// An operator on a matrix, which is as fast as memory.
Row row_of_map(const std::string& name, int rows, int columns);

struct AttentionShape {
  int heads, length, width;
};
/// Attention by topi::cpu::schedule_attention. The libraries multiply each head's queries and keys,
/// take the softmax of all rows (oneDNN's, or Eigen's), and multiply by the values. Operations are
/// those of the products.
Row row_of(const AttentionShape& shape);

}  // namespace tenon::bench
