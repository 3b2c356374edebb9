#include "tune/search/traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tenon/tir/ops.h"
#include "tune/space/accesses.h"

namespace tenon::tune {

namespace {

/// Typical associativity (lines per set) of the caches of current processors.
constexpr std::int64_t kWays = 8;

/// Returns the distance in bytes between the rows of the footprint; 0 if the footprint is one row
/// or the memory is no larger. The innermost dimension, other than the last, in which more than one
/// index is accessed counts the rows; a row consists of the dimensions after it.
std::int64_t row_distance(const Access& access, const std::vector<Loop>& loops, std::size_t first) {
  if (access.loops_around_memory > 0) return 0;
  const std::vector<tir::Expr>& shape = access.buffer->shape;
  const std::vector<double> spans = spans_of(access, loops, first);
  std::int64_t bytes = access.buffer->dtype.bytes();
  for (std::size_t d = shape.size(); d-- > 1;) {
    bytes *= tir::constant_int(shape[d]).value_or(1);
    if (spans[d - 1] > 1) return bytes;
  }
  return 0;
}

/// Whether the footprint of the access in the loops from `first` inwards fits the sets of the
/// cache. If the distance of rows and the size of a way have a large common divisor, all rows map
/// to a few sets.
bool has_sets_for(const Access& access, const std::vector<Loop>& loops, std::size_t first,
                  std::int64_t cache_bytes) {
  const std::int64_t distance = row_distance(access, loops, first);
  if (distance == 0) return true;
  const Box box = touched(access, loops, first);
  const double lines = lines_of(access, box),
               row_bytes =
                   std::ceil(box.last * access.buffer->dtype.bytes() / kLineBytes) * kLineBytes;
  const double rows = lines * kLineBytes / row_bytes;
  const auto apart = static_cast<double>(std::gcd(distance, cache_bytes / kWays));
  return rows * std::max(apart, row_bytes) <= static_cast<double>(cache_bytes);
}

/// Returns the number of lines that a store's loops load into the cache.
double lines_into(std::int64_t cache_bytes, const StoreInLoops& at,
                  const std::vector<Access>& accesses) {
  const auto fits = [&](std::size_t first) {
    double bytes = 0;
    for (const Access& access : accesses) {
      if (!has_sets_for(access, at.loops, first, cache_bytes)) return false;
      bytes += lines_of(access, touched(access, at.loops, first)) * kLineBytes;
    }
    return bytes <= static_cast<double>(cache_bytes);
  };
  std::size_t first = at.loops.size();
  while (first > 0 && fits(first - 1)) --first;
  // The next outer loop reuses the data that does not depend on it.
  if (first > 0) --first;
  const double times = at.iterations_from(0) / at.iterations_from(first);
  double lines = 0;
  for (const Access& access : accesses) lines += lines_of(access, touched(access, at.loops, first));
  return lines * times;
}

}  // namespace

Traffic traffic_of(const tir::IRModule& loops, const tir::CacheBytes& caches) {
  Traffic result;
  for (const auto& [name, func] : loops.functions)
    for_each_store(func.body, [&](const StoreInLoops& at) {
      const std::vector<Access> accesses = accesses_of(at);
      result.into_l1 += lines_into(caches.l1, at, accesses);
      result.into_l2 += lines_into(caches.l2, at, accesses);
    });
  return result;
}

}  // namespace tenon::tune
