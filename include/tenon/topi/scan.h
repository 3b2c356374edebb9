// Running sums and products along a dimension of a tensor.
//
//   te::Tensor B = topi::cumsum(A, 0);                          // B[i] = A[0] + ... + A[i]
//   te::Tensor C = topi::cumsum(A, 0, {.exclusive = true});     // C[i] = A[0] + ... + A[i - 1]
//
// A te::scan along the dimension, with operations "<name>_init" and "<name>_update". Where the
// dimension is the first, the scan is called `name`; else "<name>_scan", and an operation `name`,
// tagged injective, puts the dimension in its place again. Elements are combined one after the
// other, unless it is by blocks:
//
//   te::Tensor D = topi::cumsum(A, 0, {.block = 32});
//
// Of the elements as "<name>_blocks" {.., block, element, ..}, first the sum of each block
// ("<name>_sums"), then that of all blocks before each ("<name>_before", a scan as above), and what
// runs within each block ("<name>_within", a scan of all blocks side by side); "<name>_of_blocks"
// adds the last two, and `name` has them as the tensor is. So blocks can be computed at the same
// time, and vectors have elements of several. (Blelloch, "Prefix Sums and Their Applications",
// 1990.)
//
// TypeError: a dimension that the tensor does not have; a block of less than 1 or more than 2^20
// elements.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// Tag of the operation `name` of sums by blocks.
inline constexpr const char* kCumulativeBlocks = "cumulative_blocks";

/// What is summed, in which type, and the result's name.
struct CumulativeOptions {
  /// Of the elements before, without the element itself: the first is 0 (1 for products).
  bool exclusive = false;
  /// To which the elements are cast first; their own unless said.
  std::optional<DataType> dtype = std::nullopt;
  /// Elements of a block: 32 are a good number (tests/bench/README.md). Floats are then added up in
  /// another order, with fewer roundings: as many as there are elements in a block and blocks, in
  /// place of one for each element before.
  std::optional<int> block = std::nullopt;
  /// "T_<function>" unless said.
  Name name = "";
};

Tensor cumsum(const Tensor& x, int axis = 0, CumulativeOptions options = {},
              SourceLocation where = SourceLocation::current());
/// The same with products.
Tensor cumprod(const Tensor& x, int axis = 0, CumulativeOptions options = {},
               SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi
