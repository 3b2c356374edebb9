// The meaning of every operator on one number, stated once: the constant folder, the interpreter
// and the simplifier call these functions, and every code generator is tested against them.
//
//   apply(BinaryOp::Mul, integer(100), integer(3), Int(8))     // 44: wraps modulo 2^8
//   convert(floating(3e9), Float(32), Int(32))                 // INT_MAX: saturates
//
// - Integers wrap modulo 2^bits: the least one divided by -1 is itself, with remainder 0.
// - Floats are rounded once, to nearest even. 16-bit floats are computed in float32 and rounded.
// - Min and Max of floats are NaN if an operand is (IEEE 754-2019 minimum and maximum). Which zero
//   they give for zeros of two signs is open.
// - A float converted to an integer is truncated, and saturates where the type ends; NaN gives 0.
//   To bool it is `x != 0`. An integer converted to a float is rounded once, to nearest even.
// - The amount of a shift counts modulo the bits of the type.
// - The only operation without a value is an integer division by zero.
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

/// One number: integers and addresses in `i` (a uint64 as its bit pattern), floats in `d`.
union Scalar {
  std::int64_t i;
  double d;
};

inline Scalar integer(std::int64_t value) { return Scalar{.i = value}; }
inline Scalar floating(double value) { return Scalar{.d = value}; }

/// The nearest value of the type: integers wrapped, floats rounded to nearest even.
Scalar fit(Scalar value, DataType type);

/// Operands of type `operands`; comparisons give 0 or 1. Nullopt for an integer division by zero.
std::optional<Scalar> try_apply(tir::BinaryOp op, Scalar a, Scalar b, DataType operands);
/// The same; RuntimeError for an integer division by zero.
Scalar apply(tir::BinaryOp op, Scalar a, Scalar b, DataType operands);
/// A conversion of the value.
Scalar convert(Scalar value, DataType from, DataType to);
/// Mathematics, tests and bits. `element` is the type of the first argument, `result` of the call.
/// RuntimeError for an intrinsic that is no function of numbers.
Scalar apply(tir::Intrin intrin, std::span<const Scalar> args, DataType element, DataType result);

}  // namespace tenon::interp
