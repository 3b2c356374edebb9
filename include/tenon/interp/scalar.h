// The value of every operator on scalars. The constant folder, the interpreter and the simplifier
// call these functions, and every code generator is tested against them.
//
//   apply(BinaryOp::Mul, integer(100), integer(3), Int(8))     // 44: wraps modulo 2^8
//   convert(floating(3e9), Float(32), Int(32))                 // INT_MAX: saturates
//
// - Integers wrap modulo 2^bits: the minimum divided by -1 is itself, with remainder 0.
// - Floats are rounded once, to nearest even. 16-bit floats are computed in float32 and rounded.
// - Min and Max of floats are NaN if an operand is NaN (IEEE 754-2019 minimum and maximum). The
//   sign of the result for two zeros of different sign is unspecified.
// - Float to integer truncates and saturates; NaN gives 0. Float to bool is `x != 0`. Integer to
//   float is rounded once, to nearest even.
// - Shift amounts are taken modulo the width of the type.
// - Integer division by zero is the only operation without a value.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tenon/support/data_type.h"
#include "tenon/tir/intrin.h"

namespace tenon::tir {
enum class BinaryOp : std::uint8_t;
}

namespace tenon::interp {

/// A scalar: integers and addresses in `i` (a uint64 as its bit pattern), floats in `d`.
union Scalar {
  std::int64_t i;
  double d;
};

inline Scalar integer(std::int64_t value) { return Scalar{.i = value}; }
inline Scalar floating(double value) { return Scalar{.d = value}; }

/// Returns the value in the type: integers wrapped, floats rounded to nearest even.
Scalar fit(Scalar value, DataType type);

/// Applies an operator to values of type `operands`. Comparisons return 0 or 1. Nullopt for an
/// integer division by zero.
std::optional<Scalar> try_apply(tir::BinaryOp op, Scalar a, Scalar b, DataType operands);
/// Applies an operator like try_apply; RuntimeError for an integer division by zero.
Scalar apply(tir::BinaryOp op, Scalar a, Scalar b, DataType operands);
/// Returns the bits that represent the value in the type, and the value that bits represent. Bits
/// above the width of the type are 0 or ignored.
std::uint64_t bit_pattern(Scalar value, DataType type);
Scalar from_bit_pattern(std::uint64_t bits, DataType type);
/// Converts a value between types.
Scalar convert(Scalar value, DataType from, DataType to);
/// Applies a math, predicate or bit intrinsic. `element` is the type of the first argument,
/// `result` the type of the call. RuntimeError for an intrinsic that is not a function of scalars.
Scalar apply(tir::Intrin intrin, std::span<const Scalar> args, DataType element, DataType result);

}  // namespace tenon::interp
