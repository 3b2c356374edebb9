// Measures the processor time of work, for tests that bound it.
//
//   EXPECT_LT(least_seconds(0.05, [] {
//     const double start = processor_seconds();
//     ...
//     return processor_seconds() - start;
//   }), 0.05);
//
// Machines differ, and other programs on them take caches, memory and clock. So each try is timed
// alongside a yardstick, a fixed piece of work of the kind that compilers do (nodes of maps that
// are allocated, found and freed), and its time is scaled to that of a machine on which the
// yardstick takes as long as where the limits were set. Under a sanitizer, limits are three times
// as long.
#pragma once

#include <algorithm>
#include <ctime>
#include <map>
#include <string>

#include "tests/common/sanitized.h"

namespace tenon::testing {

/// Processor time of this process since its start.
inline double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Seconds of the processor for the yardstick, now.
inline double yardstick_seconds() {
  const double start = processor_seconds();
  std::map<std::string, int> nodes;
  for (unsigned n = 0; n < 6000; ++n) nodes["node " + std::to_string(n * 2654435761u)] += 1;
  for (auto node = nodes.begin(); node != nodes.end(); node = nodes.erase(node)) continue;
  return processor_seconds() - start;
}

/// The least of a dozen tries, or the first that takes less than half of `limit`. `once()` makes
/// one try and gives the seconds of the processor that it took. Where the yardstick takes more than
/// kYardstick, all are told in the same proportion less.
template <typename Once>
double least_seconds(double limit, Once&& once) {
  constexpr double kYardstick = 0.006;
  constexpr double kShare = kIsSanitized ? 1.0 / 3 : 1.0;
  double least = 1e9, before = yardstick_seconds();
  for (int n = 0; n < 12 && least >= limit / 2; ++n) {
    const double seconds = once() * kShare, after = yardstick_seconds();
    least = std::min(least, seconds * kYardstick / std::max({before, after, kYardstick}));
    before = after;
  }
  return least;
}

}  // namespace tenon::testing
