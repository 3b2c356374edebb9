#include "runtime/arrays/layout.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "runtime/core/inline_list.h"

namespace tenon::runtime {

void write_compact_strides(std::span<const std::int64_t> shape, std::span<std::int64_t> strides) {
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    // With an extent of 0, all strides would become 0; such an array has no elements to access.
    stride *= std::max<std::int64_t>(shape[d], 1);
  }
}

std::vector<std::int64_t> compact_strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size());
  write_compact_strides(shape, strides);
  return strides;
}

std::optional<Span> touched(std::span<const std::int64_t> shape,
                            std::span<const std::int64_t> strides) {
  Span span;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(shape[d] - 1, strides[d], &reach)) return std::nullopt;
    std::int64_t& end = reach < 0 ? span.first : span.last;
    if (__builtin_add_overflow(end, reach, &end)) return std::nullopt;
  }
  return span;
}

bool elements_are_apart(std::span<const std::int64_t> shape,
                        std::span<const std::int64_t> strides) {
  if (is_compact(shape, strides)) return true;
  struct Dimension {
    std::uint64_t step, extent;
  };
  InlineList<Dimension, 8> list(shape.size());
  std::size_t count = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) return true;
    const auto stride = static_cast<std::uint64_t>(strides[d]);
    if (shape[d] > 1)
      list[count++] = {strides[d] < 0 ? 0 - stride : stride, static_cast<std::uint64_t>(shape[d])};
  }
  const std::span dimensions(list.data(), count);
  std::ranges::sort(dimensions, {}, &Dimension::step);
  std::uint64_t spanned = 0;
  for (auto [step, extent] : dimensions) {
    if (step <= spanned) return false;
    spanned += step * (extent - 1);  // cannot overflow: touched() has checked it
  }
  return true;
}

}  // namespace tenon::runtime
