// Queries on matrix products, for schedules.
#pragma once

#include <cstdint>
#include <optional>

#include "tenon/te/operation.h"

namespace tenon::topi {

using te::Tensor;

/// Whether the tensor is a matmul, dense or batch_matmul.
bool is_product(const Tensor& x);

/// Whether the first (0) or the second (1) factor is stored transposed, with respect to matrices of
/// (rows, depth) and (depth, columns).
bool is_transposed(const Tensor& product, std::size_t factor);

/// The extents of one matrix product; nullopt if symbolic.
struct ProductExtents {
  std::optional<std::int64_t> rows, columns, depth;

  explicit ProductExtents(const Tensor& product);
  bool are_multiples(std::int64_t m, std::int64_t n, std::int64_t k) const;
};

}  // namespace tenon::topi
