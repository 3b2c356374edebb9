// Sizes and positions of strided arrays, with arithmetic that does not overflow unnoticed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tenon::runtime {

std::vector<std::int64_t> compact_strides(std::span<const std::int64_t> shape);
/// The same, into a list as long as the shape.
void write_compact_strides(std::span<const std::int64_t> shape, std::span<std::int64_t> strides);

/// Nothing above int64's range, or with a negative extent.
inline std::optional<std::int64_t> count_elements(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  std::int64_t without_zeros = 1;
  for (std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    count *= extent == 0 ? 0 : 1;
    // Strides are products that pass over zeros, and must fit as well.
    if (__builtin_mul_overflow(without_zeros, std::max<std::int64_t>(extent, 1), &without_zeros))
      return std::nullopt;
  }
  return count == 0 ? 0 : without_zeros;
}

/// Positions of the first and the last element in memory, relative to element 0, in elements.
struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Of an array that has elements. Nothing if int64 does not hold it.
std::optional<Span> touched(std::span<const std::int64_t> shape,
                            std::span<const std::int64_t> strides);

/// Whether the strides are those of row-major order without gaps, where they matter.
inline bool is_compact(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  if (std::ranges::find(shape, 0) != shape.end()) return true;
  std::int64_t expected = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= shape[d];
  }
  return true;
}

/// Whether it is certain that no two elements are the same place: every stride exceeds what the
/// smaller ones span.
bool elements_are_apart(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);

}  // namespace tenon::runtime
