#include "tests/fuzz/exact_value.h"

#include <bit>

namespace tenon::fuzz {

namespace {

int bits_of(int count) { return std::bit_width(static_cast<unsigned>(count)); }

struct FloatLimits {
  int significand;
  int largest_exponent;
};

FloatLimits limits_of(DataType type) {
  return type.bits == 16   ? FloatLimits{11, 15}
         : type.bits == 32 ? FloatLimits{24, 127}
                           : FloatLimits{53, 1023};
}

}  // namespace

Magnitude magnitude_of_any(DataType type) {
  return type.is_floating() ? Magnitude{4000, 0} : Magnitude{type.bits, 0};
}

Magnitude magnitude_of_inputs(DataType type) {
  // Multiples of a quarter up to 9 quarters.
  return type.is_floating() ? Magnitude{2, -2} : magnitude_of_any(type);
}

Magnitude magnitude_of(int constant) { return {bits_of(constant), 0}; }

Magnitude joined(Magnitude a, Magnitude b) {
  return {std::max(a.high, b.high), std::min(a.low, b.low)};
}

Magnitude sum_of(Magnitude each, int count) { return {each.high + bits_of(count), each.low}; }

bool is_exact(DataType type, Magnitude magnitude) {
  if (!type.is_floating()) return true;
  const FloatLimits limits = limits_of(type);
  return magnitude.high - magnitude.low <= limits.significand &&
         magnitude.high <= limits.largest_exponent;
}

ExactValue exact_constant(DataType type, int constant) {
  return {make_const(type, constant),
          type.is_floating() ? magnitude_of(constant) : magnitude_of_any(type)};
}

ExactValue exact_cast(DataType type, const ExactValue& e) {
  const DataType from = e.value.dtype();
  if (from == type) return e;
  if (!from.is_floating() && !type.is_floating())
    return {cast(type, e.value), magnitude_of_any(type)};
  if (type.is_floating() && is_exact(type, e.magnitude)) return {cast(type, e.value), e.magnitude};
  // A conversion of what does not fit has no defined value.
  const bool has_negative = !type.is_uint();
  const Expr clamped = max(min(e.value, make_const(from, 100)),
                           make_const(from, has_negative && !from.is_uint() ? -100 : 0));
  if (!type.is_floating()) return {cast(type, clamped), magnitude_of_any(type)};
  if (!from.is_floating()) return {cast(type, clamped), {7, 0}};
  return {cast(type, trunc(clamped)), {7, 0}};
}

ExactValue combine(ExactOperation operation, const ExactValue& a, const ExactValue& b) {
  const DataType type = a.value.dtype();
  const Magnitude either = joined(a.magnitude, b.magnitude);
  const Magnitude added = sum_of(either, 1);
  const Magnitude product = {a.magnitude.high + b.magnitude.high,
                             a.magnitude.low + b.magnitude.low};
  auto of = [&](Expr value, Magnitude floating) -> ExactValue {
    return {std::move(value), type.is_floating() ? floating : magnitude_of_any(type)};
  };
  const bool can_add = is_exact(type, added);
  switch (operation) {
    case ExactOperation::Add:
      if (can_add) return of(a.value + b.value, added);
      break;
    case ExactOperation::Subtract:
      if (can_add) return of(a.value - b.value, added);
      break;
    case ExactOperation::Multiply:
      if (is_exact(type, product)) return of(a.value * b.value, product);
      break;
    case ExactOperation::Select: {
      const Magnitude moved = sum_of(joined(either, magnitude_of(1)), 1);
      if (is_exact(type, moved))
        return of(select(a.value < b.value, a.value, b.value + make_const(type, 1)), moved);
      break;
    }
    case ExactOperation::DivideOrMinimum:
      if (type.is_floating()) return of(min(a.value, b.value), either);
      return of(floordiv(a.value, make_const(type, 3)) + b.value, either);
    case ExactOperation::ModuloOrMaximum:
      if (type.is_floating()) break;
      return of(truncmod(a.value, make_const(type, 5)) + b.value, either);
    case ExactOperation::Maximum:
      break;
  }
  return of(max(a.value, b.value), either);
}

}  // namespace tenon::fuzz
