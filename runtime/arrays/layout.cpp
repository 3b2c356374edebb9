#include "runtime/arrays/layout.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "runtime/core/inline_list.h"

namespace tenon::runtime {

void write_compact_strides(std::span<const std::int64_t> shape, std::span<std::int64_t> strides) {
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    // An extent of 0 counts as 1, because it would make the following strides 0. (Such an array has
    // no elements, so its strides do not matter for accesses.)
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
  const auto step_of = [&](std::size_t d) {
    const auto stride = static_cast<std::uint64_t>(strides[d]);
    return strides[d] < 0 ? 0 - stride : stride;
  };
  InlineList<std::size_t, 8> list(shape.size());
  std::size_t count = 0;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1) list[count++] = d;
  const std::span dimensions(list.data(), count);
  std::ranges::sort(dimensions, {}, step_of);
  std::uint64_t spanned = 0;
  for (std::size_t d : dimensions) {
    if (step_of(d) <= spanned) return false;
    // Cannot overflow: touched() has checked it.
    spanned += step_of(d) * static_cast<std::uint64_t>(shape[d] - 1);
  }
  return true;
}

namespace {

/// The multiples of `step` with factors 0 to count - 1.
struct Multiples {
  std::int64_t step, count;
};

/// Whether the sum of one multiple from each entry of `list` can be in [first, last]. Each step of
/// the search decrements `trials`. If they become negative, the search ends undecided and returns
/// true.
bool can_reach(std::span<const Multiples> list, std::int64_t first, std::int64_t last,
               int& trials) {
  if (last < 0) return false;
  if (list.empty()) return first <= 0;
  if (--trials < 0) return true;
  std::int64_t divisor = 0, reach = 0;
  for (const auto& [step, count] : list) {
    divisor = std::gcd(divisor, step);
    reach += step * (count - 1);
  }
  if (reach < first || last / divisor * divisor < first) return false;
  const auto [step, count] = list.back();
  const std::int64_t missing = first - (reach - step * (count - 1));
  for (std::int64_t n = missing <= 0 ? 0 : (missing - 1) / step + 1;
       n <= std::min(count - 1, last / step); ++n)
    if (can_reach(list.first(list.size() - 1), first - n * step, last - n * step, trials))
      return true;
  return false;
}

}  // namespace

std::optional<bool> overlap(const StridedBytes& a, const StridedBytes& b) {
  // The arrays overlap if, for some indices, the offset of an element of a minus the offset of an
  // element of b, both relative to element 0, is in [first, last]. An offset is the sum of index *
  // stride over the dimensions.
  std::int64_t first = b.base - a.base - (a.element_bytes - 1);
  std::int64_t last = b.base - a.base + (b.element_bytes - 1);
  InlineList<Multiples, 16> list(a.shape.size() + b.shape.size());
  std::size_t count = 0;
  for (const StridedBytes* array : {&a, &b})
    for (std::size_t d = 0; d < array->shape.size(); ++d) {
      const std::int64_t stride = array->strides[d] * array->element_bytes;
      const std::int64_t step = array == &a ? stride : -stride;
      if (array->shape[d] == 1 || step == 0) continue;
      // A dimension with a negative step is reversed: its first element is then the lowest one.
      const std::int64_t offset = step < 0 ? step * (array->shape[d] - 1) : 0;
      first -= offset, last -= offset;
      list[count++] = {std::abs(step), array->shape[d]};
    }
  std::ranges::sort(list.data(), list.data() + count, {}, &Multiples::step);
  // Merges a step into the previous, smaller step if the multiples of both add up to consecutive
  // multiples of the smaller step.
  std::size_t kept = 0;
  for (std::size_t n = 0; n < count; ++n) {
    const Multiples next = list[n];
    if (kept > 0 && next.step % list[kept - 1].step == 0 &&
        next.step / list[kept - 1].step <= list[kept - 1].count)
      list[kept - 1].count += next.step / list[kept - 1].step * (next.count - 1);
    else
      list[kept++] = next;
  }
  int trials = 10'000;
  const bool found = can_reach({list.data(), kept}, first, last, trials);
  return found && trials < 0 ? std::nullopt : std::optional(found);
}

}  // namespace tenon::runtime
