#include "tests/device_kit/elements.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "tenon/support/float16.h"

namespace tenon::device_kit {

namespace {

template <class T>
T load(const std::byte* from) {
  T result;
  std::memcpy(&result, from, sizeof(T));
  return result;
}

std::int64_t whole(const std::byte* element, DataType type) {
  const bool is_signed = type.is_int();
  switch (type.bytes()) {
    case 1:
      return is_signed ? std::int64_t{load<std::int8_t>(element)} : load<std::uint8_t>(element);
    case 2:
      return is_signed ? std::int64_t{load<std::int16_t>(element)} : load<std::uint16_t>(element);
    case 4:
      return is_signed ? std::int64_t{load<std::int32_t>(element)} : load<std::uint32_t>(element);
    default:
      return load<std::int64_t>(element);
  }
}

}  // namespace

double value(const std::byte* element, DataType type) {
  if (type.is_bfloat())
    return static_cast<double>(BFloat16::from_bits(load<std::uint16_t>(element)));
  if (type.is_float() && type.bits == 16)
    return static_cast<double>(Float16::from_bits(load<std::uint16_t>(element)));
  if (type.is_float()) return type.bits == 64 ? load<double>(element) : load<float>(element);
  return static_cast<double>(whole(element, type));
}

bool same(const std::byte* expected, const std::byte* found, DataType type, double tolerance,
          bool zeros_alike) {
  if (std::memcmp(expected, found, static_cast<std::size_t>(type.bytes())) == 0) return true;
  if (!type.is_floating()) return false;
  const double right = value(expected, type), actual = value(found, type);
  if (std::isnan(right) || std::isnan(actual)) return std::isnan(right) && std::isnan(actual);
  if (right == actual) return zeros_alike || std::signbit(right) == std::signbit(actual);
  if (std::isinf(right) || std::isinf(actual)) return false;
  return std::fabs(right - actual) <= tolerance * std::max(1.0, std::fabs(right));
}

std::string text(const std::byte* element, DataType type) {
  if (!type.is_floating()) return std::to_string(whole(element, type));
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.9g", value(element, type));
  return digits;
}

}  // namespace tenon::device_kit
