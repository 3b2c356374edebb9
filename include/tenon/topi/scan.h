// Running sums and products along a dimension of a tensor.
//
//   te::Tensor B = topi::cumsum(A, 0);                          // B[i] = A[0] + ... + A[i]
//   te::Tensor C = topi::cumsum(A, 0, {.exclusive = true});     // C[i] = A[0] + ... + A[i - 1]
//
// A te::scan along the dimension, with operations "<name>_init" and "<name>_update". Where the
// dimension is the first, the scan is called `name`; else "<name>_scan", and an operation `name`,
// tagged injective, puts the dimension in its place again. Elements are combined one after the
// other.
//
// TypeError: a dimension that the tensor does not have.
#pragma once

#include "tenon/te/operation.h"

#pragma GCC visibility push(default)

namespace tenon::topi {

using te::Tensor;

/// What is summed, in which type, and the result's name.
struct CumulativeOptions {
  /// Of the elements before, without the element itself: the first is 0 (1 for products).
  bool exclusive = false;
  /// To which the elements are cast first; their own unless said.
  std::optional<DataType> dtype = std::nullopt;
  /// "T_<function>" unless said.
  Name name = "";
};

Tensor cumsum(const Tensor& x, int axis = 0, CumulativeOptions options = {},
              SourceLocation where = SourceLocation::current());
/// The same with products.
Tensor cumprod(const Tensor& x, int axis = 0, CumulativeOptions options = {},
               SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi

#pragma GCC visibility pop
