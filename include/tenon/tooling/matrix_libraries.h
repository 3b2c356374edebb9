// Libraries that compute products of matrices, as far as this machine has them.
//
//   for (const LibraryProduct& each : library_products({.m = m, .n = n, .k = k, .a = a, .b = b, .c = c}, 1))
//     time(each.name, each.run);
//
// They are loaded while the program runs, each apart from the others: some export the same names.
// Nothing has to be there when the program is built.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tenon {

/// C = A B, of row-major float32 arrays: A is m x k, B is k x n. A transposed factor is given as
/// its transpose. The arrays are the caller's, and outlive what computes them.
struct MatrixProduct {
  int m, n, k;
  bool transpose_a = false, transpose_b = false;
  const float* a;
  const float* b;
  float* c;
};

/// A library's way to compute one product.
struct LibraryProduct {
  std::string name;
  std::function<void()> run;
};

/// Those of OpenBLAS, BLIS and oneDNN that are found, as Debian packages them. Each uses so many
/// threads from then on.
std::vector<LibraryProduct> library_products(const MatrixProduct& product, int threads);

}  // namespace tenon
