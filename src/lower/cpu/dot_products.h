// Sums of products of narrow numbers, as loops have them: what the pragma dot_products makes
// instructions of (cpu/combine_products.cpp).
//
//   C[ramp(0, 1, 16)] = C[ramp(0, 1, 16)] + broadcast(int32(A[k]))*int32x16(B[ramp(4*j + k, 4, 16)])
#pragma once

#include <optional>

#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// Numbers that are multiplied: one for all lanes, or every so many elements one.
struct Factor {
  tir::Buffer buffer;
  /// The first element; `stride` is nothing where there is only one.
  tir::Expr base;
  std::optional<std::int64_t> stride;
};

/// target = target + a*b
struct Sum {
  tir::Store target;
  Factor a, b;

  DataType type() const { return target.value.dtype(); }
  /// Factors that fill the bits of a sum.
  int neighbours() const { return type().bits / a.buffer->dtype.bits; }
};

/// nullopt: the statement is no such sum of vectors, or of types that no instruction multiplies, or
/// one that changes its own factors.
std::optional<Sum> sum_of(const tir::Stmt& s);

/// What is stored to, as a value.
tir::Expr self_of(const tir::Store& store);

/// The factors of all sums, those of each side by side.
tir::Expr neighbours_of(const Factor& factor, const Sum& sum);

}  // namespace tenon::lowering
