// Cumulative sums and products along a dimension of a tensor.
//
//   te::Tensor B = topi::cumsum(A, 0);                          // B[i] = A[0] + ... + A[i]
//   te::Tensor C = topi::cumsum(A, 0, {.exclusive = true});     // C[i] = A[0] + ... + A[i - 1]
//
// The result is a te::scan along the dimension, with operations "<name>_init" and "<name>_update".
// If the dimension is the first one, the scan is called `name`. Otherwise it is called
// "<name>_scan", and an operation `name` with the tag injective moves the dimension back. Elements
// are combined sequentially, or in blocks:
//
//   te::Tensor D = topi::cumsum(A, 0, {.block = 32});
//
// The blocked prefix sum declares "<name>_blocks" {.., block, element, ..}, the elements by block;
// "<name>_sums", the sum of each block; "<name>_before", the sum of all preceding blocks (a scan as
// above); "<name>_within", the prefix sums within each block (a scan of all blocks in parallel);
// "<name>_of_blocks", the sum of the last two; and `name`, the result in the tensor's shape. Blocks
// can then be computed in parallel, and vectors hold elements of several blocks. (Blelloch, "Prefix
// Sums and Their Applications", 1990.)
//
// TypeError for a dimension that does not exist, and for a block of less than 1 or more than 2^20
// elements.
#pragma once

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// Tag of the operation `name` of a blocked prefix sum.
inline constexpr const char* kCumulativeBlocks = "cumulative_blocks";

/// Options of cumulative sums and products.
struct CumulativeOptions {
  /// Whether to exclude the element itself. The first result is then 0 (1 for products).
  bool exclusive = false;
  /// Type to which the elements are cast first. Nullopt: their own.
  std::optional<DataType> dtype = std::nullopt;
  /// Elements per block. 32 is a good choice (tests/bench/README.md). The blocked sum adds floats
  /// in another order. A result then has fewer roundings: at most as many as a block has elements,
  /// plus the number of blocks.
  std::optional<int> block = std::nullopt;
  /// Name of the result. Default: "T_<function>".
  Name name = "";
};

Tensor cumsum(const Tensor& x, int axis = 0, CumulativeOptions options = {},
              SourceLocation where = SourceLocation::current());
/// Computes cumulative products; see cumsum.
Tensor cumprod(const Tensor& x, int axis = 0, CumulativeOptions options = {},
               SourceLocation where = SourceLocation::current());

}  // namespace tenon::topi
