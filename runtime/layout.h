// Sizes and positions of strided arrays, with arithmetic that does not overflow unnoticed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tenon::runtime {

std::vector<std::int64_t> compact_strides(std::span<const std::int64_t> shape);
/// The same, into a list as long as the shape.
void write_compact_strides(std::span<const std::int64_t> shape, std::span<std::int64_t> strides);

/// Nothing above int64's range, or with a negative extent.
std::optional<std::int64_t> count_elements(std::span<const std::int64_t> shape);

/// Positions of the first and the last element in memory, relative to element 0, in elements.
struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// Of an array that has elements. Nothing if int64 does not hold it.
std::optional<Span> touched(std::span<const std::int64_t> shape,
                            std::span<const std::int64_t> strides);

/// Whether the strides are those of row-major order without gaps, where they matter.
bool is_compact(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);

/// Whether it is certain that no two elements are the same place: every stride exceeds what the
/// smaller ones span.
bool elements_are_apart(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides);

}  // namespace tenon::runtime
