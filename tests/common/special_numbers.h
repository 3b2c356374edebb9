// Numbers at which the arithmetic of a type has its edges: NaN, infinities, -0.0, subnormals,
// halves between two values, limits of integer types, and arbitrary bits. As bits of memory, and as
// constants.
#pragma once

#include <cstdint>
#include <random>

#include "tenon/tir/expr.h"
#include "tests/definition/number.h"

namespace tenon::testing {

/// The values of inputs.
enum class Data : std::uint8_t {
  /// Small, never 0: no arithmetic of a small program overflows or loses a bit.
  Small,
  /// Integers of the full range, and small floats among NaN, infinities and zeros: sums and
  /// products
  /// do not depend on their order.
  Unordered,
  /// Every value of a type, mostly its special ones.
  Special,
};

Number special_number(DataType type, std::mt19937& random);
/// A number for an element of an input.
Number input_number(Data data, DataType type, std::mt19937& random);
/// The number as a constant of the type.
tir::Expr constant_of(const Number& number, DataType type);

}  // namespace tenon::testing
