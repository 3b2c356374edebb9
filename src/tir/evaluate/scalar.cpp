#include "tir/evaluate/scalar.h"

#include <bit>
#include <cmath>

#include "tenon/support/float16.h"

namespace tenon::tir::evaluation {

namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

Wide widen(Scalar x, DataType t) {
  if (t.is_uint() && t.bits == 64) return static_cast<std::uint64_t>(x.i);
  return x.i;
}

Scalar narrow(Wide x, DataType t) { return integer(wrap(static_cast<std::int64_t>(x), t)); }

Wide floor_div(Wide a, Wide b) {
  const Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

Wide nonzero(Wide divisor) {
  if (divisor == 0) throw RuntimeError("integer division by zero");
  return divisor;
}

Scalar apply_integers(BinaryOp op, Wide a, Wide b, DataType t) {
  switch (op) {
    case BinaryOp::Add:
      return narrow(a + b, t);
    case BinaryOp::Sub:
      return narrow(a - b, t);
    case BinaryOp::Mul:
      // The product of two uint64 may leave even the wide type; only its low bits count.
      return narrow(static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b)),
                    t);
    case BinaryOp::Div:
    case BinaryOp::TruncDiv:
      return narrow(a / nonzero(b), t);
    case BinaryOp::TruncMod:
      return narrow(a % nonzero(b), t);
    case BinaryOp::FloorDiv:
      return narrow(floor_div(a, nonzero(b)), t);
    case BinaryOp::FloorMod:
      return narrow(a - floor_div(a, nonzero(b)) * b, t);
    case BinaryOp::Min:
      return narrow(a < b ? a : b, t);
    case BinaryOp::Max:
      return narrow(a < b ? b : a, t);
    case BinaryOp::Eq:
      return integer(a == b);
    case BinaryOp::Ne:
      return integer(a != b);
    case BinaryOp::Lt:
      return integer(a < b);
    case BinaryOp::Le:
      return integer(a <= b);
    case BinaryOp::Gt:
      return integer(a > b);
    case BinaryOp::Ge:
      return integer(a >= b);
    case BinaryOp::And:
      return integer(a != 0 && b != 0);
    case BinaryOp::Or:
      return integer(a != 0 || b != 0);
  }
  internal_error("an operator without a meaning on integers");
}

Scalar apply_floats(BinaryOp op, double a, double b, DataType t) {
  auto number = [&](double x) { return fit(floating(x), t); };
  switch (op) {
    case BinaryOp::Add:
      return number(a + b);
    case BinaryOp::Sub:
      return number(a - b);
    case BinaryOp::Mul:
      return number(a * b);
    case BinaryOp::Div:
      return number(a / b);
    case BinaryOp::Min:
      return number(a < b ? a : b);
    case BinaryOp::Max:
      return number(a > b ? a : b);
    case BinaryOp::Eq:
      return integer(a == b);
    case BinaryOp::Ne:
      return integer(a != b);
    case BinaryOp::Lt:
      return integer(a < b);
    case BinaryOp::Le:
      return integer(a <= b);
    case BinaryOp::Gt:
      return integer(a > b);
    case BinaryOp::Ge:
      return integer(a >= b);
    case BinaryOp::TruncDiv:
      return number(std::trunc(a / b));
    case BinaryOp::FloorDiv:
      return number(std::floor(a / b));
    case BinaryOp::TruncMod:
      return number(std::fmod(a, b));
    case BinaryOp::FloorMod:
      return number(a - std::floor(a / b) * b);
    case BinaryOp::And:
    case BinaryOp::Or:
      break;
  }
  internal_error("an operator without a meaning on floats");
}

/// Mathematics that maps floats to a float.
double mathematics(Intrin intrin, double x, double y, double z) {
  switch (intrin) {
    case Intrin::exp:
      return std::exp(x);
    case Intrin::exp2:
      return std::exp2(x);
    case Intrin::exp10:
      return std::pow(10.0, x);
    case Intrin::log:
      return std::log(x);
    case Intrin::log2:
      return std::log2(x);
    case Intrin::log10:
      return std::log10(x);
    case Intrin::log1p:
      return std::log1p(x);
    case Intrin::sqrt:
      return std::sqrt(x);
    case Intrin::rsqrt:
      return 1 / std::sqrt(x);
    case Intrin::pow:
      return std::pow(x, y);
    case Intrin::sin:
      return std::sin(x);
    case Intrin::cos:
      return std::cos(x);
    case Intrin::tan:
      return std::tan(x);
    case Intrin::sinh:
      return std::sinh(x);
    case Intrin::cosh:
      return std::cosh(x);
    case Intrin::tanh:
      return std::tanh(x);
    case Intrin::asin:
      return std::asin(x);
    case Intrin::acos:
      return std::acos(x);
    case Intrin::atan:
      return std::atan(x);
    case Intrin::atan2:
      return std::atan2(x, y);
    case Intrin::asinh:
      return std::asinh(x);
    case Intrin::acosh:
      return std::acosh(x);
    case Intrin::atanh:
      return std::atanh(x);
    case Intrin::erf:
      return std::erf(x);
    case Intrin::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Intrin::floor:
      return std::floor(x);
    case Intrin::ceil:
      return std::ceil(x);
    case Intrin::round:
    case Intrin::nearbyint:
      return std::nearbyint(x);
    case Intrin::trunc:
      return std::trunc(x);
    case Intrin::fabs:
      return std::fabs(x);
    case Intrin::fmod:
      return std::fmod(x, y);
    case Intrin::fma:
      return std::fma(x, y, z);
    case Intrin::hypot:
      return std::hypot(x, y);
    case Intrin::copysign:
      return std::copysign(x, y);
    default:
      throw RuntimeError("the interpreter cannot evaluate @tir." + std::string(to_string(intrin)));
  }
}

std::uint64_t low_bits(Scalar x, DataType t) {
  const auto bits = static_cast<std::uint64_t>(x.i);
  return t.bits == 64 ? bits : bits & ((std::uint64_t{1} << t.bits) - 1);
}

std::uint64_t bit_pattern(Scalar x, DataType t) {
  if (t.is_bfloat()) return BFloat16(x.d).bits;
  if (!t.is_float()) return low_bits(x, t);
  if (t.bits == 64) return std::bit_cast<std::uint64_t>(x.d);
  if (t.bits == 32) return std::bit_cast<std::uint32_t>(static_cast<float>(x.d));
  return Float16(x.d).bits;
}

Scalar from_bit_pattern(std::uint64_t bits, DataType t) {
  if (t.is_bfloat())
    return floating(static_cast<double>(BFloat16::from_bits(static_cast<std::uint16_t>(bits))));
  if (!t.is_float())
    return t.is_handle() ? integer(static_cast<std::int64_t>(bits))
                         : integer(wrap(static_cast<std::int64_t>(bits), t));
  if (t.bits == 64) return floating(std::bit_cast<double>(bits));
  if (t.bits == 32)
    return floating(static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))));
  return floating(static_cast<double>(Float16::from_bits(static_cast<std::uint16_t>(bits))));
}

/// round(x * y * 2^-s) of fixed-point numbers with q fractional bits, halves up.
std::int64_t multiply_shift(std::int64_t x, std::int64_t y, std::int64_t q, std::int64_t s) {
  const std::int64_t left = s > 0 ? s : 0;
  const std::int64_t right = q - (s > 0 ? 0 : s);
  Wide product = static_cast<Wide>(x << left) * y;
  return static_cast<std::int64_t>((product + (Wide{1} << (right - 1))) >> right);
}

Scalar bits_and_tests(Intrin intrin, std::span<const Scalar> args, DataType t, DataType result) {
  const Scalar x = args[0];
  const Scalar y = args.size() > 1 ? args[1] : integer(0);
  auto wrapped = [&](std::int64_t value) { return integer(wrap(value, t)); };
  switch (intrin) {
    case Intrin::popcount:
      return integer(std::popcount(low_bits(x, t)));
    case Intrin::clz:
      return integer(std::countl_zero(low_bits(x, t)) - (64 - t.bits));
    case Intrin::shift_left:
      return wrapped(static_cast<std::int64_t>(static_cast<std::uint64_t>(x.i) << (y.i & 63)));
    case Intrin::shift_right:
      return t.is_uint() ? wrapped(static_cast<std::int64_t>(low_bits(x, t) >> (y.i & 63)))
                         : wrapped(x.i >> (y.i & 63));
    case Intrin::bitwise_and:
      return wrapped(x.i & y.i);
    case Intrin::bitwise_or:
      return wrapped(x.i | y.i);
    case Intrin::bitwise_xor:
      return wrapped(x.i ^ y.i);
    case Intrin::bitwise_not:
      return t.is_bool() ? integer(x.i == 0) : wrapped(~x.i);
    case Intrin::q_multiply_shift:
      return integer(wrap(multiply_shift(x.i, y.i, args[2].i, args[3].i), result));
    case Intrin::isnan:
      return integer(std::isnan(x.d));
    case Intrin::isinf:
      return integer(std::isinf(x.d));
    case Intrin::isfinite:
      return integer(std::isfinite(x.d));
    case Intrin::reinterpret:
      return from_bit_pattern(bit_pattern(x, t), result);
    case Intrin::ldexp:
      return fit(floating(std::ldexp(x.d, static_cast<int>(y.i))), result);
    case Intrin::isnullptr:
      return integer(x.i == 0);
    default:
      break;
  }
  const double third = args.size() > 2 ? args[2].d : 0;
  if (intrin == Intrin::nextafter)
    return floating(t.bits == 64 ? std::nextafter(x.d, y.d)
                                 : static_cast<double>(std::nextafterf(static_cast<float>(x.d),
                                                                       static_cast<float>(y.d))));
  return fit(floating(mathematics(intrin, x.d, args.size() > 1 ? y.d : 0, third)), result);
}

}  // namespace

Scalar fit(Scalar value, DataType element) {
  if (element.is_integral())
    return integer(element.is_bool() ? value.i != 0 : wrap(value.i, element));
  if (element.is_bfloat()) return floating(static_cast<double>(BFloat16(value.d)));
  if (!element.is_float() || element.bits == 64) return value;
  if (element.bits == 32) return floating(static_cast<double>(static_cast<float>(value.d)));
  return floating(static_cast<double>(Float16(value.d)));
}

Scalar apply(BinaryOp op, Scalar a, Scalar b, DataType element) {
  if (element.is_floating()) return apply_floats(op, a.d, b.d, element);
  return apply_integers(op, widen(a, element), widen(b, element), element);
}

Scalar convert(Scalar value, DataType from, DataType to) {
  if (from.is_floating()) {
    if (to.is_floating()) return fit(value, to);
    if (to.is_bool()) return integer(value.d != 0);
    const double whole = std::trunc(value.d);
    if (to.is_uint() && to.bits == 64)
      return integer(static_cast<std::int64_t>(static_cast<std::uint64_t>(whole)));
    // Out of range is undefined in generated code; here it is the least value, as x86 gives.
    const bool in_range = whole >= -9223372036854775808.0 && whole < 9223372036854775808.0;
    return integer(wrap(in_range ? static_cast<std::int64_t>(whole) : std::int64_t{1} << 63, to));
  }
  if (to.is_floating()) {
    const bool big = from.is_uint() && from.bits == 64;
    const double number = big ? static_cast<double>(static_cast<std::uint64_t>(value.i))
                              : static_cast<double>(value.i);
    // To float32 directly: by way of double a 64-bit integer would be rounded twice.
    if (to == Float(32))
      return floating(
          big ? static_cast<double>(static_cast<float>(static_cast<std::uint64_t>(value.i)))
              : static_cast<double>(static_cast<float>(value.i)));
    return fit(floating(number), to);
  }
  return fit(value, to);
}

Scalar apply(Intrin intrin, std::span<const Scalar> args, DataType element, DataType result) {
  return bits_and_tests(intrin, args, element, result);
}

}  // namespace tenon::tir::evaluation
