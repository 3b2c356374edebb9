#include "tenon/runtime/timing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tenon/support/error.h"

namespace tenon::runtime {

Timing Timing::of(std::vector<double> results) {
  if (results.empty()) throw RuntimeError("Timing::of needs at least one result");
  const auto count = static_cast<double>(results.size());
  std::vector<double> sorted = results;
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;

  Timing timing;
  timing.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  timing.median =
      sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  timing.min = sorted.front();
  timing.max = sorted.back();
  double squares = 0;
  for (double result : sorted) squares += (result - timing.mean) * (result - timing.mean);
  timing.stdev = std::sqrt(squares / count);
  timing.results = std::move(results);
  return timing;
}

}  // namespace tenon::runtime
