// Matrix-product libraries that are installed on this machine.
//
//   for (const LibraryProduct& each : library_products({.m = m, .n = n, .k = k, .a = a, .b = b, .c = c}, 1))
//     time(each.name, each.run);
//
// The libraries are loaded at run time, isolated from one another because some export the same
// symbols. They are not needed to build. A program finds the libraries of PyPI only if its DT_RPATH
// has their folder; otherwise it uses Debian's.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tenon/support/data_type.h"

namespace tenon {

/// The product C = A B of row-major arrays: A is m x k, B is k x n. A transposed factor is
/// stored as its transpose. The caller owns the arrays and keeps them alive.
///
/// C is float64 for factors of float64, int32 for int8 and uint8, float32 otherwise.
struct MatrixProduct {
  int m, n, k;
  bool transpose_a = false, transpose_b = false;
  const void* a;
  const void* b;
  void* c;
  DataType of_a = Float(32), of_b = Float(32);
  /// Number of products. The matrices of a product follow those of the previous one.
  int batch = 1;
  /// Whether B is converted to the library's own layout beforehand, as is usual for weights.
  bool is_b_packed = false;
};

/// A library's implementation of one product.
struct LibraryProduct {
  std::string name;
  std::function<void()> run;
};

/// Returns the implementations of the product in OpenBLAS, MKL, BLIS and oneDNN. Libraries that are
/// not installed, or do not have this product, are left out. Sets each library's number of threads.
std::vector<LibraryProduct> library_products(const MatrixProduct& product, int threads);

/// Returns the implementations, in OpenBLAS and MKL, of y = x^T for a row-major float32 matrix x of
/// rows x columns. They use the calling thread only.
std::vector<LibraryProduct> library_transposes(int rows, int columns, const float* x, float* y);

/// A function of a library, such as "cblas_saxpy".
struct LibraryFunction {
  std::string library;
  void* address;
};
/// Looks up the function in those of OpenBLAS, MKL and BLIS that are installed, and returns the
/// ones found. Sets each library's number of threads.
std::vector<LibraryFunction> library_functions(const std::string& symbol, int threads);

/// A version of a library, and the instruction set that it chose on this processor.
struct MatrixLibrary {
  std::string name, version, instruction_set;
};

/// Describes OpenBLAS, MKL and BLIS, as far as they are installed. Sets the number of threads,
/// because MKL chooses its kernels and its threading library at the first call.
std::vector<MatrixLibrary> matrix_libraries(int threads);

}  // namespace tenon
