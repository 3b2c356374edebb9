// The 16-bit floating types as values: storage and conversions without arithmetic.
//
//   Float16 h(0.1);                      // rounds to nearest, ties to even; overflow gives infinity
//   float f = float(h);                  // exact
//   array.data<BFloat16>()[0] = BFloat16(1.5);
#pragma once

#include <cstdint>

namespace tenon {

/// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits.
struct Float16 {
  std::uint16_t bits = 0;

  Float16() = default;
  explicit Float16(double value);
  static Float16 from_bits(std::uint16_t bits);
  explicit operator float() const;
  explicit operator double() const { return static_cast<float>(*this); }
};

/// The upper half of a float32: 1 sign, 8 exponent, 7 fraction bits.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(double value);
  static BFloat16 from_bits(std::uint16_t bits);
  explicit operator float() const;
  explicit operator double() const { return static_cast<float>(*this); }
};

static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2);

}  // namespace tenon
