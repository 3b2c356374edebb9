#include "tenon/support/float16.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tenon {

namespace {

/// Rounds a double to the 16-bit format with this number of fraction bits. Rounds directly, because
/// a conversion through float32 would round twice.
std::uint16_t narrow(double value, int fraction_bits) {
  const int hidden = 1 << fraction_bits, infinity = 0x8000 - hidden;
  const int bias = (1 << (14 - fraction_bits)) - 1;
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::fabs(value);
  auto with_sign = [&](int bits) { return static_cast<std::uint16_t>(sign | bits); };
  if (std::isnan(value)) return with_sign(infinity | hidden / 2);
  if (magnitude == 0) return sign;
  if (std::isinf(value)) return with_sign(infinity);

  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  if (exponent > bias) return with_sign(infinity);
  // The magnitude in units of the last place, rounded. The scaling by a power of two is exact,
  // because large magnitudes were handled above and small ones are scaled up.
  const double units = std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent));
  // Adds the fraction to the exponent field. A carry out of the fraction increments the exponent,
  // up to infinity. Subtracting `hidden` removes the hidden bit of a normal number. A subnormal
  // number has no hidden bit, so its exponent field becomes 0.
  return with_sign(((exponent + bias) << fraction_bits) + static_cast<int>(units) - hidden);
}

}  // namespace

Float16::Float16(double value) : bits(narrow(value, 10)) {}
Float16::operator float() const {
  const int fraction = bits & 0x3ff, exponent = (bits & 0x7fff) >> 10;
  const float sign = (bits & 0x8000) != 0 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : std::copysign(NAN, sign);
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
}
Float16 Float16::from_bits(std::uint16_t bits) {
  Float16 result;
  result.bits = bits;
  return result;
}

BFloat16::BFloat16(double value) : bits(narrow(value, 7)) {}
BFloat16::operator float() const {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
BFloat16 BFloat16::from_bits(std::uint16_t bits) {
  BFloat16 result;
  result.bits = bits;
  return result;
}

}  // namespace tenon
