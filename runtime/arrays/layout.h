// Sizes and offsets of strided arrays, with overflow checks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tenon::runtime {

std::vector<std::int64_t> compact_strides(std::span<const std::int64_t> shape);
/// Writes the compact strides of `shape` to `strides`, which has the same length.
void write_compact_strides(std::span<const std::int64_t> shape, std::span<std::int64_t> strides);

/// Returns the number of elements; nullopt if it exceeds int64 or an extent is negative.
inline std::optional<std::int64_t> count_elements(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  std::int64_t without_zeros = 1;
  for (std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    count *= extent == 0 ? 0 : 1;
    // Compact strides are products of extents in which 0 counts as 1. They must not overflow
    // either.
    if (__builtin_mul_overflow(without_zeros, std::max<std::int64_t>(extent, 1), &without_zeros))
      return std::nullopt;
  }
  return count == 0 ? 0 : without_zeros;
}

/// Offsets of the first and the last element in memory, relative to element 0, in elements.
struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Returns the span of an array that has elements; nullopt if it exceeds int64.
std::optional<Span> touched(std::span<const std::int64_t> shape,
                            std::span<const std::int64_t> strides);

/// Whether the strides are row-major without gaps. Dimensions of extent 1 are ignored. An array
/// without elements is always compact.
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

/// The bytes of a strided array that has elements.
struct StridedBytes {
  /// The position of element 0, relative to an origin that the compared arrays share.
  std::int64_t base;
  std::int64_t element_bytes;
  std::span<const std::int64_t> shape, strides;
};

/// Whether an element of one array shares a byte with an element of the other; gaps between
/// elements do not count. Nullopt: a search of bounded length found no answer.
std::optional<bool> overlap(const StridedBytes& a, const StridedBytes& b);

/// Whether all elements of an array are provably disjoint: every stride exceeds the span of the
/// dimensions with smaller strides.
bool elements_are_apart(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);

}  // namespace tenon::runtime
