// Matrix-product libraries that are installed on this machine.
//
//   for (const LibraryProduct& each : library_products({.m = m, .n = n, .k = k, .a = a, .b = b, .c = c}, 1))
//     time(each.name, each.run);
//
// The libraries are loaded at run time, isolated from one another because some export the same
// symbols. They are not needed to build.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tenon {

/// The product C = A B of row-major float32 arrays: A is m x k, B is k x n. A transposed factor is
/// stored as its transpose. The caller owns the arrays and keeps them alive.
struct MatrixProduct {
  int m, n, k;
  bool transpose_a = false, transpose_b = false;
  const float* a;
  const float* b;
  float* c;
};

/// A library's implementation of one product.
struct LibraryProduct {
  std::string name;
  std::function<void()> run;
};

/// Returns the implementations of OpenBLAS, BLIS and oneDNN that are found under their Debian
/// names. Sets the number of threads that each of them uses.
std::vector<LibraryProduct> library_products(const MatrixProduct& product, int threads);

}  // namespace tenon
