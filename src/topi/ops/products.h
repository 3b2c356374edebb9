// What schedules ask about products of matrices.
#pragma once

#include <cstdint>
#include <optional>

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// Whether it is matmul, dense or batch_matmul.
bool is_product(const Tensor& x);

/// Whether the last dimension of the first (0) or the second (1) factor is not the one that
/// matrices of (rows, depth) and (depth, columns) have there.
bool is_transposed(const Tensor& product, std::size_t factor);

/// Of one matrix; nothing where it is symbolic.
struct ProductExtents {
  std::optional<std::int64_t> rows, columns, depth;

  explicit ProductExtents(const Tensor& product);
  bool are_multiples(std::int64_t m, std::int64_t n, std::int64_t k) const;
};

}  // namespace tenon::topi
