#include "tenon/support/float16.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tenon {

namespace {

struct Format {
  int exponent_bits;
  int fraction_bits;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr std::uint16_t infinity() const {
    return static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  }
};

constexpr Format kBinary16{5, 10};
constexpr Format kBFloat16{8, 7};

/// Rounds a double to a 16-bit format. Rounds directly, because a conversion through float32 would
/// round twice.
std::uint16_t narrow(double value, Format format) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::fabs(value);
  auto with_sign = [&](int bits) { return static_cast<std::uint16_t>(sign | bits); };
  if (std::isnan(value)) return with_sign(format.infinity() | (1 << (format.fraction_bits - 1)));
  if (magnitude == 0) return sign;
  if (std::isinf(value)) return with_sign(format.infinity());

  const int least_exponent = 1 - format.bias();
  const int exponent = std::max(std::ilogb(magnitude), least_exponent);
  if (exponent > format.bias()) return with_sign(format.infinity());
  // The magnitude in units of the last place, rounded. The scaling by a power of two is exact,
  // because large magnitudes were handled above and small ones are scaled up.
  const double units = std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent));
  // Adds the fraction to the exponent field. A carry out of the fraction increments the exponent,
  // up to infinity. Subtracting `hidden` removes the hidden bit of a normal number. A subnormal
  // number has no hidden bit, so its exponent field becomes 0.
  const int hidden = 1 << format.fraction_bits;
  return with_sign(((exponent + format.bias()) << format.fraction_bits) + static_cast<int>(units) -
                   hidden);
}

float widen(std::uint16_t bits, Format format) {
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  const int exponent = (bits & 0x7fff) >> format.fraction_bits;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == (1 << format.exponent_bits) - 1)
    return fraction == 0 ? sign * INFINITY : std::copysign(NAN, sign);
  const int hidden = exponent == 0 ? 0 : 1 << format.fraction_bits;
  const int power = std::max(exponent, 1) - format.bias() - format.fraction_bits;
  return sign * std::ldexp(static_cast<float>(fraction + hidden), power);
}

}  // namespace

Float16::Float16(double value) : bits(narrow(value, kBinary16)) {}
Float16::operator float() const { return widen(bits, kBinary16); }
Float16 Float16::from_bits(std::uint16_t bits) {
  Float16 result;
  result.bits = bits;
  return result;
}

BFloat16::BFloat16(double value) : bits(narrow(value, kBFloat16)) {}
BFloat16::operator float() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
BFloat16 BFloat16::from_bits(std::uint16_t bits) {
  BFloat16 result;
  result.bits = bits;
  return result;
}

}  // namespace tenon
