#include "tests/fuzz/exact_value.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tenon::fuzz {

namespace {

int bits_of(int count) { return std::bit_width(static_cast<unsigned>(count)); }

struct FloatLimits {
  int significand;
  int largest_exponent;
};

FloatLimits limits_of(DataType type) {
  if (type.is_bfloat()) return {8, 127};
  return type.bits == 16   ? FloatLimits{11, 15}
         : type.bits == 32 ? FloatLimits{24, 127}
                           : FloatLimits{53, 1023};
}

/// Inexact values beyond are too coarse to compare.
constexpr int kMaxInexact = 12;

ExactValue combine_bools(ExactOperation operation, const Expr& a, const Expr& b) {
  switch (static_cast<int>(operation) % 3) {
    case 0:
      return {a && b, magnitude_of(1)};
    case 1:
      return {a || b, magnitude_of(1)};
    default:
      return {a != b, magnitude_of(1)};
  }
}

}  // namespace

Magnitude magnitude_of_any(DataType type) {
  return type.is_floating() ? Magnitude{4000, 0} : Magnitude{type.bits, 0};
}

Magnitude magnitude_of_inputs(DataType type) {
  // Multiples of a quarter up to 9 quarters, and integers up to 9.
  return type.is_floating() ? Magnitude{2, -2} : in_type(type, {4, 0});
}

Magnitude in_type(DataType type, Magnitude computed) {
  return type.is_floating() ? computed : magnitude_of_any(type);
}

Magnitude magnitude_of(int constant) { return {bits_of(std::abs(constant)), 0}; }

Magnitude joined(Magnitude a, Magnitude b) {
  return {std::max(a.high, b.high), std::min(a.low, b.low), a.exact && b.exact};
}

Magnitude sum_of(Magnitude each, int count) {
  return {each.high + bits_of(count), each.low, each.exact};
}

Magnitude product_of(Magnitude a, Magnitude b) {
  return {a.high + b.high, a.low + b.low, a.exact && b.exact};
}

Magnitude inexact(int high) { return {high, 0, false}; }

bool is_held(DataType type, Magnitude magnitude) {
  if (!type.is_floating()) return true;
  const FloatLimits limits = limits_of(type);
  if (!magnitude.exact) return magnitude.high <= std::min(kMaxInexact, limits.largest_exponent);
  return magnitude.high - magnitude.low <= limits.significand &&
         magnitude.high <= limits.largest_exponent;
}

double tolerance_of(DataType type, Magnitude magnitude) {
  if (magnitude.exact) return 0;
  // An error of a few units in the last place of each of some operations.
  return std::ldexp(64.0, std::max(magnitude.high, 0) - limits_of(type).significand);
}

ExactValue exact_constant(DataType type, int constant) {
  return {make_const(type, constant), in_type(type, magnitude_of(constant))};
}

ExactValue exact_cast(DataType type, const ExactValue& e) {
  const DataType from = e.value.dtype();
  if (from == type) return e;
  if (from.is_bool()) return {cast(type, e.value), in_type(type, magnitude_of(1))};
  if (!from.is_floating() && !type.is_floating())
    return {cast(type, e.value), magnitude_of_any(type)};
  if (type.is_floating() && is_held(type, e.magnitude)) return {cast(type, e.value), e.magnitude};
  const bool has_negative = !type.is_uint();
  const Expr clamped = max(min(e.value, make_const(from, 100)),
                           make_const(from, has_negative && !from.is_uint() ? -100 : 0));
  if (!type.is_floating()) return {cast(type, clamped), in_type(type, {7, 0})};
  if (!e.magnitude.exact) return {cast(type, clamped), inexact(7)};
  if (!from.is_floating()) return {cast(type, clamped), {7, 0}};
  return {cast(type, trunc(clamped)), {7, 0}};
}

ExactValue combine(ExactOperation operation, const ExactValue& a, const ExactValue& b) {
  const DataType type = a.value.dtype();
  if (type.is_bool()) return combine_bools(operation, a.value, b.value);
  const Magnitude either = joined(a.magnitude, b.magnitude);
  const Magnitude added = sum_of(either, 1);
  const Magnitude product = product_of(a.magnitude, b.magnitude);
  auto of = [&](Expr value, Magnitude computed) -> ExactValue {
    return {std::move(value), in_type(type, computed)};
  };
  const Expr &x = a.value, &y = b.value;
  const bool can_add = is_held(type, added);
  switch (operation) {
    case ExactOperation::Add:
      if (can_add) return of(a.value + b.value, added);
      break;
    case ExactOperation::Subtract:
      if (can_add) return of(a.value - b.value, added);
      break;
    case ExactOperation::Multiply:
      if (is_held(type, product)) return of(a.value * b.value, product);
      break;
    case ExactOperation::Select: {
      const Magnitude moved = sum_of(joined(either, magnitude_of(1)), 1);
      // A jump, of which inexact values might be on either side.
      if (is_held(type, moved) && either.exact)
        return of(select(x < y, a.value, b.value + make_const(type, 1)), moved);
      break;
    }
    case ExactOperation::DivideOrMinimum:
      if (type.is_floating()) return of(min(a.value, b.value), either);
      return of(floordiv(x, make_const(type, 3)) + b.value, added);
    case ExactOperation::ModuloOrMaximum:
      if (type.is_floating()) break;
      return of(truncmod(x, make_const(type, 5)) + b.value, sum_of(joined(either, {3, 0}), 1));
    case ExactOperation::BitsOrMinimum:
      if (type.is_floating()) return of(min(a.value, b.value), either);
      return of((a.value ^ b.value) + (x >> make_const(type, 2)), sum_of(either, 2));
    case ExactOperation::Maximum:
      break;
  }
  return of(max(x, y), either);
}

ExactValue apply(Function function, const ExactValue& a, const ExactValue& b) {
  const DataType type = a.value.dtype();
  const Expr one = make_const(type, 1), tame = max(min(a.value, make_const(type, 2)), -one * 2);
  const Expr positive = abs(tame) + one;
  switch (function) {
    case Function::Exp:
      return {exp(tame), inexact(3)};
    case Function::Tanh:
      return {tanh(tame), inexact(0)};
    case Function::Sigmoid:
      return {sigmoid(tame), inexact(0)};
    case Function::Log:
      return {log(positive), inexact(1)};
    case Function::Sqrt:
      return {sqrt(positive), inexact(1)};
    case Function::Rsqrt:
      return {rsqrt(positive), inexact(0)};
    case Function::Erf:
      return {erf(tame), inexact(0)};
    case Function::Divide:
      break;
  }
  return {b.value / positive, inexact(b.magnitude.high)};
}

}  // namespace tenon::fuzz
