// Recognition of multiply-adds of low-precision numbers in loops. combine_products.cpp makes
// dot-product instructions of them under the pragma dot_products.
//
//   C[r] = C[r] + broadcast(int32(A[k]))*int32x16(B[ramp(4*j + k, 4, 16)])    // r: ramp(0, 1, 16)
#pragma once

#include <optional>

#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// One factor of a product: a broadcast scalar, or a strided vector.
struct Factor {
  tir::Buffer buffer;
  /// The index of the first element; `stride` is nullopt for a broadcast scalar.
  tir::Expr base;
  std::optional<std::int64_t> stride;
};

/// The statement `target = target + a*b`.
struct Sum {
  tir::Store target;
  Factor a, b;

  DataType type() const { return target.value.dtype(); }
  /// The number of adjacent factors that fill one accumulator lane.
  int neighbours() const { return type().bits / a.buffer->dtype.bits; }
};

/// Returns nullopt unless `s` is a multiply-add of vectors whose types an instruction supports and
/// whose store does not change its own factors.
std::optional<Sum> sum_of(const tir::Stmt& s);

/// Returns a load of the stored element.
tir::Expr self_of(const tir::Store& store);

/// Returns the factors of all products that are combined, grouped by accumulator lane.
tir::Expr neighbours_of(const Factor& factor, const Sum& sum);

}  // namespace tenon::lowering
