// States the scalar semantics a second time, independently of the interpreter's
// (tenon/interp/scalar.h): neither could find a fault in what they shared.
#include "tests/definition/number.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace tenon::testing {

using tir::BinaryOp;
using tir::Intrin;

namespace {

__extension__ typedef unsigned __int128 Bits;

/// A binary floating format: bits of precision (the leading one among them), and the greatest
/// exponent of two; the least one is 1 - greatest.
struct Format {
  int precision, greatest;
};

Format format_of(DataType type) {
  if (type.is_bfloat()) return {8, 127};
  return type.bits == 16 ? Format{11, 15} : type.bits == 32 ? Format{24, 127} : Format{53, 1023};
}

int width(DataType type) { return type.element().bytes() * 8; }

std::uint64_t low_bits(const Number& x, DataType type) {
  const Bits all = static_cast<Bits>(x.whole);
  return static_cast<std::uint64_t>(all & ((Bits{1} << type.bits) - 1));
}

/// The largest value, or the least one, of an integer type.
Whole limit_of(DataType type, bool is_least) {
  const int magnitude_bits = type.bits - (type.is_int() ? 1 : 0);
  if (is_least) return type.is_int() ? -(Whole{1} << magnitude_bits) : 0;
  return (Whole{1} << magnitude_bits) - 1;
}

/// Truncates, and saturates to the limits of the type; NaN gives 0.
Whole saturated(double value, DataType type) {
  if (std::isnan(value)) return 0;
  if (value < -0x1p64) return limit_of(type, true);
  if (value > 0x1p64) return limit_of(type, false);
  return std::clamp(static_cast<Whole>(value), limit_of(type, true), limit_of(type, false));
}

/// Rounds once, to nearest even.
double rounded_integer(Whole value, DataType type) {
  const Format format = format_of(type);
  Bits magnitude = static_cast<Bits>(value < 0 ? -value : value);
  int width = 0;
  while (magnitude >> width != 0) ++width;
  const int dropped = std::max(0, width - format.precision);
  Bits kept = magnitude >> dropped;
  if (dropped > 0) {
    const Bits tail = magnitude - (kept << dropped), half = Bits{1} << (dropped - 1);
    if (tail > half || (tail == half && kept % 2 != 0)) ++kept;
  }
  const double result = std::ldexp(static_cast<double>(static_cast<std::uint64_t>(kept)), dropped);
  const bool overflows = result >= std::ldexp(1.0, format.greatest + 1);
  const double finite = overflows ? std::numeric_limits<double>::infinity() : result;
  return value < 0 ? -finite : finite;
}

/// Rounded towards minus infinity.
Whole floor_divided(Whole a, Whole b) {
  const Whole quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Number of_truth(bool truth) { return Number::of(truth ? 1 : 0); }

template <class T>
Number compared(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::Eq:
      return of_truth(a == b);
    case BinaryOp::Ne:
      return of_truth(a != b);
    case BinaryOp::Lt:
      return of_truth(a < b);
    case BinaryOp::Le:
      return of_truth(a <= b);
    case BinaryOp::Gt:
      return of_truth(a > b);
    default:
      return of_truth(a >= b);
  }
}

Whole combined_integers(BinaryOp op, Whole a, Whole b) {
  const bool divides = op == BinaryOp::TruncDiv || op == BinaryOp::TruncMod ||
                       op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod;
  if (divides && b == 0) throw NoOpinion("a division by zero");
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return static_cast<Whole>(static_cast<Bits>(a) * static_cast<Bits>(b));
    case BinaryOp::TruncDiv:
      return a / b;
    case BinaryOp::TruncMod:
      return a % b;
    case BinaryOp::FloorDiv:
      return floor_divided(a, b);
    case BinaryOp::FloorMod:
      return a - floor_divided(a, b) * b;
    case BinaryOp::Min:
      return std::min(a, b);
    case BinaryOp::Max:
      return std::max(a, b);
    case BinaryOp::And:
      return a != 0 && b != 0;
    case BinaryOp::Or:
      return a != 0 || b != 0;
    default:
      throw NoOpinion("an operator that integers do not have");
  }
}

double combined_floats(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Add:
      return a + b;
    case BinaryOp::Sub:
      return a - b;
    case BinaryOp::Mul:
      return a * b;
    case BinaryOp::Div:
      return a / b;
    case BinaryOp::Min:
      return std::isnan(a) || std::isnan(b) ? a + b : a < b ? a : b;
    case BinaryOp::Max:
      return std::isnan(a) || std::isnan(b) ? a + b : a > b ? a : b;
    default:
      throw NoOpinion("an operator that floats do not have");
  }
}

Number of_bits(Intrin intrin, const std::vector<Number>& args, DataType type) {
  const std::uint64_t x = low_bits(args[0], type),
                      y = args.size() > 1 ? low_bits(args[1], type) : 0;
  const auto back = [&](std::uint64_t bits) { return wrapped(static_cast<Whole>(bits), type); };
  const auto amount = static_cast<int>(y % static_cast<unsigned>(type.bits));
  switch (intrin) {
    case Intrin::popcount:
      return Number::of(__builtin_popcountll(x));
    case Intrin::clz:
      return Number::of((x == 0 ? 64 : __builtin_clzll(x)) - (64 - type.bits));
    case Intrin::shift_left:
      return wrapped(static_cast<Whole>(static_cast<Bits>(x) << amount), type);
    case Intrin::shift_right:
      return Number::of(floor_divided(args[0].whole, Whole{1} << amount));
    case Intrin::bitwise_and:
      return back(x & y);
    case Intrin::bitwise_or:
      return back(x | y);
    case Intrin::bitwise_xor:
      return back(x ^ y);
    case Intrin::bitwise_not:
      return type.is_bool() ? of_truth(x == 0) : back(~x);
    default:
      throw NoOpinion("some intrinsics");
  }
}

double of_reals(Intrin intrin, double x, double y) {
  switch (intrin) {
    case Intrin::exp:
      return std::exp(x);
    case Intrin::exp2:
      return std::exp2(x);
    case Intrin::log:
      return std::log(x);
    case Intrin::log2:
      return std::log2(x);
    case Intrin::log10:
      return std::log10(x);
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
    case Intrin::tanh:
      return std::tanh(x);
    case Intrin::atan:
      return std::atan(x);
    case Intrin::atan2:
      return std::atan2(x, y);
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
    case Intrin::copysign:
      return std::copysign(x, y);
    default:
      throw NoOpinion("some intrinsics");
  }
}

}  // namespace

Number number_of(std::uint64_t bits, DataType type) {
  if (!type.is_floating()) return wrapped(static_cast<Whole>(bits), type);
  const Format format = format_of(type);
  const int stored = format.precision - 1;
  const auto fraction = static_cast<double>(bits & ((std::uint64_t{1} << stored) - 1));
  const auto exponent =
      static_cast<int>(bits >> stored & ((std::uint64_t{1} << (width(type) - 1 - stored)) - 1));
  const double sign = bits >> (width(type) - 1) & 1 ? -1 : 1;
  const int least = 1 - format.greatest;
  double value = std::ldexp(fraction, least - stored);
  if (exponent == 2 * format.greatest + 1) {
    value = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                          : std::numeric_limits<double>::infinity();
  } else if (exponent != 0) {
    value = std::ldexp(fraction + std::ldexp(1.0, stored), exponent - format.greatest - stored);
  }
  return {0, sign * value};
}

std::uint64_t bits_of(const Number& number, DataType type) {
  if (!type.is_floating()) return low_bits(number, type);
  const Format format = format_of(type);
  const int stored = format.precision - 1, sign = width(type) - 1;
  const std::uint64_t sign_bit = static_cast<std::uint64_t>(std::signbit(number.real)) << sign;
  const std::uint64_t infinity = static_cast<std::uint64_t>(2 * format.greatest + 1) << stored;
  if (std::isnan(number.real)) return infinity | std::uint64_t{1} << (stored - 1);
  const double magnitude = std::fabs(number.real);
  if (std::isinf(magnitude)) return sign_bit | infinity;
  if (magnitude == 0) return sign_bit;
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.greatest);
  // The leading one of a normal number adds 1 to the exponent field; a subnormal has none.
  const auto fraction = static_cast<std::uint64_t>(std::ldexp(magnitude, stored - exponent));
  return sign_bit |
         ((static_cast<std::uint64_t>(exponent + format.greatest - 1) << stored) + fraction);
}

Number wrapped(Whole value, DataType type) {
  if (type.is_bool()) return of_truth(value != 0);
  const Bits modulus = Bits{1} << type.bits;
  const auto low = static_cast<Whole>(static_cast<Bits>(value) & (modulus - 1));
  const bool is_negative = type.is_int() && low >= static_cast<Whole>(modulus / 2);
  return Number::of(is_negative ? low - static_cast<Whole>(modulus) : low);
}

Number rounded(double value, DataType type) {
  const Format format = format_of(type);
  if (format.precision == 53 || !std::isfinite(value) || value == 0) return {0, value};
  const int exponent = std::max(std::ilogb(value), 1 - format.greatest);
  // The distance of neighbours there.
  const double step = std::ldexp(1.0, exponent - (format.precision - 1));
  const double nearest = std::nearbyint(value / step) * step;
  if (std::fabs(nearest) >= std::ldexp(1.0, format.greatest + 1))
    return {0, std::copysign(std::numeric_limits<double>::infinity(), value)};
  return {0, nearest};
}

Number converted(const Number& value, DataType from, DataType to) {
  if (from.is_floating() && to.is_floating()) return rounded(value.real, to);
  if (from.is_floating() && to.is_bool()) return of_truth(value.real != 0);
  if (from.is_floating()) return Number::of(saturated(value.real, to));
  if (!to.is_floating()) return wrapped(value.whole, to);
  return {0, rounded_integer(value.whole, to)};
}

Number combined(BinaryOp op, const Number& a, const Number& b, DataType type) {
  if (tir::is_comparison(op))
    return type.is_floating() ? compared(op, a.real, b.real) : compared(op, a.whole, b.whole);
  return type.is_floating() ? rounded(combined_floats(op, a.real, b.real), type)
                            : wrapped(combined_integers(op, a.whole, b.whole), type);
}

Number applied(Intrin intrin, const std::vector<Number>& args, DataType of, DataType result) {
  if (intrin == Intrin::reinterpret) return number_of(bits_of(args[0], of), result);
  if (!of.is_floating()) return of_bits(intrin, args, of);
  const auto real = [&](std::size_t n) { return n < args.size() ? args[n].real : 0; };
  switch (intrin) {
    case Intrin::isnan:
      return of_truth(std::isnan(real(0)));
    case Intrin::isinf:
      return of_truth(std::isinf(real(0)));
    case Intrin::isfinite:
      return of_truth(std::isfinite(real(0)));
    case Intrin::fma:
      // Narrow types are computed in float32. Its one rounding does not go through double.
      if (of.bits < 64)
        return rounded(
            static_cast<double>(std::fma(static_cast<float>(real(0)), static_cast<float>(real(1)),
                                         static_cast<float>(real(2)))),
            result);
      return rounded(std::fma(real(0), real(1), real(2)), result);
    default: {
      // Functions of narrow types are rounded to float32 first.
      const double value = of_reals(intrin, real(0), real(1));
      return rounded(of.bits < 32 ? rounded(value, Float(32)).real : value, result);
    }
  }
}

Number element_of(const void* memory, std::int64_t place, DataType type) {
  const int bytes = type.element().bytes();
  std::uint64_t bits = 0;
  std::memcpy(&bits, static_cast<const std::byte*>(memory) + place * bytes,
              static_cast<std::size_t>(bytes));
  return number_of(bits, type);
}

bool same(const Number& a, const Number& b, DataType type, Zeros zeros) {
  if (!type.is_floating()) return a.whole == b.whole;
  if (std::isnan(a.real) && std::isnan(b.real)) return true;
  return a.real == b.real &&
         (zeros == Zeros::Alike || std::signbit(a.real) == std::signbit(b.real));
}

std::string text_of(const Number& number, DataType type) {
  if (type.is_floating()) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", number.real);
    return text;
  }
  return type == UInt(64) ? std::to_string(static_cast<std::uint64_t>(number.whole))
                          : std::to_string(static_cast<std::int64_t>(number.whole));
}

}  // namespace tenon::testing
