#include "tenon/interp/scalar.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/float16.h"
#include "tenon/tir/expr.h"

namespace tenon::interp {

using tir::BinaryOp;
using tir::Intrin;

namespace {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;

Wide widen(Scalar x, DataType t) {
  if (t.is_uint() && t.bits == 64) return static_cast<std::uint64_t>(x.i);
  return x.i;
}

Scalar narrow(Wide x, DataType t) { return integer(wrap(static_cast<std::int64_t>(x), t)); }

Scalar truth(bool holds) { return integer(holds); }

template <class T>
std::optional<Scalar> compare(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::Eq:
      return truth(a == b);
    case BinaryOp::Ne:
      return truth(a != b);
    case BinaryOp::Lt:
      return truth(a < b);
    case BinaryOp::Le:
      return truth(a <= b);
    case BinaryOp::Gt:
      return truth(a > b);
    case BinaryOp::Ge:
      return truth(a >= b);
    default:
      return std::nullopt;
  }
}

Wide floor_div(Wide a, Wide b) {
  const Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::optional<Scalar> divide(BinaryOp op, Wide a, Wide b, DataType t) {
  if (b == 0) return std::nullopt;
  switch (op) {
    case BinaryOp::TruncMod:
      return narrow(a % b, t);
    case BinaryOp::FloorDiv:
      return narrow(floor_div(a, b), t);
    case BinaryOp::FloorMod:
      return narrow(a - floor_div(a, b) * b, t);
    default:
      return narrow(a / b, t);
  }
}

std::optional<Scalar> apply_integers(BinaryOp op, Wide a, Wide b, DataType t) {
  switch (op) {
    case BinaryOp::Add:
      return narrow(a + b, t);
    case BinaryOp::Sub:
      return narrow(a - b, t);
    case BinaryOp::Mul:
      // The product of two uint64 may exceed even the wide type, but only its low bits matter.
      return narrow(static_cast<Wide>(static_cast<UnsignedWide>(a) * static_cast<UnsignedWide>(b)),
                    t);
    case BinaryOp::Div:
    case BinaryOp::TruncDiv:
    case BinaryOp::TruncMod:
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
      return divide(op, a, b, t);
    case BinaryOp::Min:
      return narrow(a < b ? a : b, t);
    case BinaryOp::Max:
      return narrow(a < b ? b : a, t);
    case BinaryOp::And:
      return truth(a != 0 && b != 0);
    case BinaryOp::Or:
      return truth(a != 0 || b != 0);
    default:
      return compare(op, a, b);
  }
}

/// Rounds a double to the type as every target does: 16-bit floats through float32.
Scalar round_to(double value, DataType t) {
  if (t.bits == 16) value = static_cast<double>(static_cast<float>(value));
  return fit(floating(value), t);
}

/// Returns the remainder with the sign of the divisor.
double floor_mod(double a, double b) {
  const double remainder = std::fmod(a, b);
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}

/// Applies an operator to floats. Sums, products and quotients of numbers of at most 24 bits are
/// computed in double and then rounded to their type; the results are correctly rounded.
std::optional<Scalar> apply_floats(BinaryOp op, double a, double b, DataType t) {
  switch (op) {
    case BinaryOp::Add:
      return round_to(a + b, t);
    case BinaryOp::Sub:
      return round_to(a - b, t);
    case BinaryOp::Mul:
      return round_to(a * b, t);
    case BinaryOp::Div:
      return round_to(a / b, t);
    case BinaryOp::TruncDiv:
      return floating(std::trunc(round_to(a / b, t).d));
    case BinaryOp::FloorDiv:
      return floating(std::floor(round_to(a / b, t).d));
    case BinaryOp::TruncMod:
      return floating(std::fmod(a, b));
    case BinaryOp::FloorMod:
      return round_to(floor_mod(a, b), t);
    case BinaryOp::Min:
      return floating(b < a || std::isnan(b) ? b : a);
    case BinaryOp::Max:
      return floating(b > a || std::isnan(b) ? b : a);
    default:
      return compare(op, a, b);
  }
}

/// Quiets a signalling NaN, for functions that a library defines for a quiet one only: pow(x, 0) is
/// 1, and hypot(infinity, x) is infinity.
double quiet(double x) { return std::isnan(x) ? std::numeric_limits<double>::quiet_NaN() : x; }

/// The functions of one float that the C library has under the same name.
constexpr std::pair<Intrin, double (*)(double)> kLibraryFunctions[] = {
    {Intrin::exp, std::exp},     {Intrin::exp2, std::exp2},   {Intrin::log, std::log},
    {Intrin::log2, std::log2},   {Intrin::log10, std::log10}, {Intrin::log1p, std::log1p},
    {Intrin::sqrt, std::sqrt},   {Intrin::sin, std::sin},     {Intrin::cos, std::cos},
    {Intrin::tan, std::tan},     {Intrin::sinh, std::sinh},   {Intrin::cosh, std::cosh},
    {Intrin::tanh, std::tanh},   {Intrin::asin, std::asin},   {Intrin::acos, std::acos},
    {Intrin::atan, std::atan},   {Intrin::asinh, std::asinh}, {Intrin::acosh, std::acosh},
    {Intrin::atanh, std::atanh}, {Intrin::erf, std::erf},     {Intrin::floor, std::floor},
    {Intrin::ceil, std::ceil},   {Intrin::trunc, std::trunc}, {Intrin::fabs, std::fabs}};

/// Applies a math function from floats to a float.
double mathematics(Intrin intrin, double x, double y, double z, DataType t) {
  for (const auto& [name, function] : kLibraryFunctions)
    if (name == intrin) return function(x);
  switch (intrin) {
    case Intrin::exp10:
      return std::pow(10.0, x);
    case Intrin::rsqrt:
      return 1 / std::sqrt(x);
    case Intrin::pow:
      return std::pow(quiet(x), quiet(y));
    case Intrin::atan2:
      return std::atan2(x, y);
    case Intrin::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Intrin::round:
    case Intrin::nearbyint:
      return std::nearbyint(x);
    case Intrin::fmod:
      return std::fmod(x, y);
    case Intrin::fma:
      // Floats use fmaf: computed in double, the sum would be rounded to double and then to float.
      return t.bits == 64
                 ? std::fma(x, y, z)
                 : static_cast<double>(std::fmaf(static_cast<float>(x), static_cast<float>(y),
                                                 static_cast<float>(z)));
    case Intrin::hypot:
      return std::hypot(quiet(x), quiet(y));
    case Intrin::copysign:
      return std::copysign(x, y);
    case Intrin::nextafter:
      return t.bits == 64 ? std::nextafter(x, y)
                          : static_cast<double>(
                                std::nextafterf(static_cast<float>(x), static_cast<float>(y)));
    default:
      throw RuntimeError("the interpreter cannot evaluate @tir." + std::string(to_string(intrin)));
  }
}

std::uint64_t low_bits(Scalar x, DataType t) {
  const auto bits = static_cast<std::uint64_t>(x.i);
  return t.bits == 64 ? bits : bits & ((std::uint64_t{1} << t.bits) - 1);
}

/// Returns (x 2^max(s, 0) y + 2^(right - 1)) >> right, where right = q - min(s, 0). This is the
/// product of fixed-point numbers with q fractional bits, times 2^s, with ties rounded up. Wraps in
/// 64 bits.
std::int64_t multiply_shift(std::int64_t x, std::int64_t y, std::int64_t q, std::int64_t s) {
  const auto left = static_cast<std::uint64_t>(s > 0 ? s : 0);
  const std::uint64_t right =
      static_cast<std::uint64_t>(q) - static_cast<std::uint64_t>(s > 0 ? 0 : s);
  const std::uint64_t product =
      (static_cast<std::uint64_t>(x) << (left & 63)) * static_cast<std::uint64_t>(y);
  const std::uint64_t half = std::uint64_t{1} << ((right - 1) & 63);
  return static_cast<std::int64_t>(product + half) >> (right & 63);
}

Scalar shift(Intrin intrin, Scalar x, Scalar y, DataType t) {
  const auto amount = static_cast<int>(y.i & (t.bits - 1));
  if (intrin == Intrin::shift_left)
    return integer(wrap(static_cast<std::int64_t>(static_cast<std::uint64_t>(x.i) << amount), t));
  if (t.is_uint()) return integer(static_cast<std::int64_t>(low_bits(x, t) >> amount));
  return integer(x.i >> amount);
}

/// Rounds to odd: an integer wider than a double's 53 bits loses its last 12 bits, and a sticky bit
/// records whether any was set. Rounded to a narrower float, the result equals the rounded integer.
double to_odd_double(Wide x) {
  const Wide magnitude = x < 0 ? -x : x;
  if (magnitude < Wide{1} << 53) return static_cast<double>(x);
  const auto kept =
      static_cast<std::uint64_t>(magnitude >> 12) | ((magnitude & 0xfff) != 0 ? 1 : 0);
  return std::ldexp(x < 0 ? -static_cast<double>(kept) : static_cast<double>(kept), 12);
}

Scalar to_float(Scalar value, DataType from, DataType to) {
  const Wide whole = widen(value, from);
  if (to.bits == 64) return floating(static_cast<double>(whole));
  return fit(floating(to_odd_double(whole)), to);
}

Scalar to_integer(double value, DataType to) {
  if (std::isnan(value)) return integer(0);
  const std::int64_t least = integer_min(to), greatest = integer_max(to).value_or(-1);
  if (value <= static_cast<double>(least)) return integer(least);
  if (value >= std::ldexp(1.0, to.is_int() ? to.bits - 1 : to.bits)) return integer(greatest);
  if (to.is_uint()) return integer(static_cast<std::int64_t>(static_cast<std::uint64_t>(value)));
  return integer(static_cast<std::int64_t>(value));
}

}  // namespace

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

Scalar fit(Scalar value, DataType type) {
  if (type.is_integral())
    return type.is_bool() ? truth(value.i != 0) : integer(wrap(value.i, type));
  if (type.is_bfloat()) return floating(static_cast<double>(BFloat16(value.d)));
  if (!type.is_float() || type.bits == 64) return value;
  if (type.bits == 32) return floating(static_cast<double>(static_cast<float>(value.d)));
  return floating(static_cast<double>(Float16(value.d)));
}

std::optional<Scalar> try_apply(BinaryOp op, Scalar a, Scalar b, DataType operands) {
  if (operands.is_floating()) return apply_floats(op, a.d, b.d, operands);
  return apply_integers(op, widen(a, operands), widen(b, operands), operands);
}

Scalar apply(BinaryOp op, Scalar a, Scalar b, DataType operands) {
  if (const auto result = try_apply(op, a, b, operands)) return *result;
  throw RuntimeError("integer division by zero");
}

Scalar convert(Scalar value, DataType from, DataType to) {
  if (from.is_floating() && to.is_bool()) return truth(value.d != 0);
  if (from.is_floating() && to.is_integral()) return to_integer(value.d, to);
  if (from.is_integral() && to.is_floating()) return to_float(value, from, to);
  return fit(value, to);
}

Scalar apply(Intrin intrin, std::span<const Scalar> args, DataType element, DataType result) {
  const DataType t = element;
  const Scalar x = args[0];
  const Scalar y = args.size() > 1 ? args[1] : integer(0);
  switch (intrin) {
    case Intrin::popcount:
      return integer(std::popcount(low_bits(x, t)));
    case Intrin::clz:
      return integer(std::countl_zero(low_bits(x, t)) - (64 - t.bits));
    case Intrin::shift_left:
    case Intrin::shift_right:
      return shift(intrin, x, y, t);
    case Intrin::bitwise_and:
      return integer(x.i & y.i);
    case Intrin::bitwise_or:
      return integer(x.i | y.i);
    case Intrin::bitwise_xor:
      return integer(x.i ^ y.i);
    case Intrin::bitwise_not:
      return integer(wrap(~x.i, t));
    case Intrin::q_multiply_shift:
      return fit(integer(multiply_shift(x.i, y.i, args[2].i, args[3].i)), result);
    case Intrin::isnan:
      return truth(std::isnan(x.d));
    case Intrin::isinf:
      return truth(std::isinf(x.d));
    case Intrin::isfinite:
      return truth(std::isfinite(x.d));
    case Intrin::reinterpret:
      return from_bit_pattern(bit_pattern(x, t), result);
    case Intrin::ldexp:
      return round_to(std::ldexp(x.d, static_cast<int>(y.i)), result);
    case Intrin::isnullptr:
      return truth(x.i == 0);
    default:
      break;
  }
  if (t.is_integral()) {
    // Rounding functions return integers unchanged.
    const bool rounds = intrin == Intrin::floor || intrin == Intrin::ceil ||
                        intrin == Intrin::round || intrin == Intrin::nearbyint ||
                        intrin == Intrin::trunc;
    if (rounds) return x;
    if (intrin == Intrin::fabs)
      return t.is_int() && x.i < 0 ? apply(BinaryOp::Sub, integer(0), x, t) : x;
  }
  const double third = args.size() > 2 ? args[2].d : 0;
  return round_to(mathematics(intrin, x.d, args.size() > 1 ? y.d : 0, third, t), result);
}

}  // namespace tenon::interp
