// Numbers of elements and iterations, which may be unknown.
#pragma once

#include <cstdint>
#include <optional>

namespace tenon::te {

/// A number of elements or iterations; nullopt if it is unknown or exceeds int64.
using Count = std::optional<std::int64_t>;

inline Count product(const Count& a, const Count& b) {
  std::int64_t result = 0;
  return a && b && !__builtin_mul_overflow(*a, *b, &result) ? Count(result) : std::nullopt;
}
inline Count sum(const Count& a, const Count& b) {
  std::int64_t result = 0;
  return a && b && !__builtin_add_overflow(*a, *b, &result) ? Count(result) : std::nullopt;
}

}  // namespace tenon::te
