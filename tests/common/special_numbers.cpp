#include "tests/common/special_numbers.h"

#include <array>
#include <cmath>
#include <limits>

#include "tenon/tir/make.h"

namespace tenon::testing {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T, std::size_t N>
const T& pick(const std::array<T, N>& from, std::mt19937& random) {
  return from[random() % N];
}

std::uint64_t random_bits(std::mt19937& random) {
  const std::uint64_t high = random();
  return high << 32 | random();
}

/// Half-way between two neighbours of a floating type, or one beside it.
Whole half_way(int bits, std::mt19937& random) {
  static constexpr std::array kDigits = {8, 11, 24, 53};
  const int digits = pick(kDigits, random);
  if (digits + 1 >= bits) return static_cast<Whole>(random() % 256);
  const Whole half = static_cast<Whole>(random_bits(random) >> (63 - digits)) | 1;
  return (half << random() % static_cast<unsigned>(bits - digits)) +
         static_cast<int>(random() % 3) - 1;
}

Number special_integer(DataType type, std::mt19937& random) {
  const int bits = type.bits;
  const Whole top = Whole{1} << (bits - 1);
  switch (random() % 7) {
    case 0:  // Around the limits, signed or not.
      return wrapped(top + static_cast<int>(random() % 5) - 2, type);
    case 1:
      return wrapped(static_cast<int>(random() % 5) - 2, type);
    case 2:
      return wrapped(
          (Whole{1} << random() % static_cast<unsigned>(bits)) + static_cast<int>(random() % 3) - 1,
          type);
    case 3:
      return wrapped(static_cast<int>(random() % 19) - 9, type);
    case 4:
      return wrapped(half_way(bits, random), type);
    default:
      return wrapped(static_cast<Whole>(random_bits(random)), type);
  }
}

/// Values around which conversions to integers saturate, and functions change their form.
double landmark(std::mt19937& random) {
  static constexpr std::array kLandmarks = {
      1.0,    0.5,     1.5,     2.5,     0.499999, 127.0,    128.0,          255.0,
      256.0,  32767.0, 32768.0, 65504.0, 65519.0,  65520.0,  65535.0,        65536.0,
      2049.0, 257.0,   0x1p23,  0x1p24,  0x1p31,   0x1p32,   0x1p52,         0x1p53,
      0x1p63, 0x1p64,  0x1p-14, 0x1p-24, 0x1p-126, 0x1p-149, 0x1.fffffep127, 1e30};
  const double value = pick(kLandmarks, random) * (random() % 2 ? 1 : -1);
  return random() % 4 == 0 ? value + (random() % 2 ? 1 : -1) : value;
}

Number special_float(DataType type, std::mt19937& random) {
  static constexpr std::array kEnds = {kNan, kInfinity, -kInfinity, 0.0, -0.0};
  switch (random() % 6) {
    case 0:
    case 1:
      return {0, pick(kEnds, random)};
    case 2:
      return rounded(landmark(random), type);
    case 3:
      return {0, (static_cast<int>(random() % 37) - 18) * 0.25};
    case 4: {  // A subnormal number, or the least normal ones.
      const std::uint64_t sign = std::uint64_t{random() % 2} << (type.bits - 1);
      const Number least = number_of(1, type), tiny = number_of(random() % 16, type);
      const Number some = random() % 2 ? tiny : rounded(least.real * random(), type);
      return number_of(bits_of(some, type) | sign, type);
    }
    default:
      return number_of(random_bits(random) >> (64 - type.bits), type);
  }
}

}  // namespace

Number special_number(DataType type, std::mt19937& random) {
  if (type.is_bool()) return Number::of(random() % 2);
  return type.is_floating() ? special_float(type, random) : special_integer(type, random);
}

Number input_number(Data data, DataType type, std::mt19937& random) {
  const int magnitude = 1 + static_cast<int>(random() % 9);
  const int value = random() % 2 ? magnitude : -magnitude;
  if (data == Data::Special) return special_number(type, random);
  if (!type.is_floating()) {
    if (data == Data::Unordered) return special_number(type, random);
    return type.is_bool() ? Number::of(value & 1) : Number::of(type.is_uint() ? magnitude : value);
  }
  static constexpr std::array kEnds = {kNan, kInfinity, -kInfinity, 0.0, -0.0, -0.0, 0.0};
  if (data == Data::Unordered && random() % 8 == 0) return {0, pick(kEnds, random)};
  // Quarters are exact in every type, and not all integers.
  return {0, value * 0.25};
}

tir::Expr constant_of(const Number& number, DataType type) {
  return type.is_floating() ? tir::make_float(type, number.real)
                            : tir::make_int(type, static_cast<std::int64_t>(number.whole));
}

}  // namespace tenon::testing
