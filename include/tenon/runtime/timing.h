// Timing results of a function, in seconds per call.
//
//   Timing t = mod["f"].time_evaluator(cpu(0), {.number = 10, .repeat = 3})(a, b, c);
//   t.median, t.results.size() == 3
#pragma once

#include <vector>

namespace tenon::runtime {

struct Timing {
  double mean = 0;
  /// Median of the results; for an even number of results, the mean of the middle two.
  double median = 0;
  double min = 0;
  double max = 0;
  /// Population standard deviation of the results (divided by n, not n - 1).
  double stdev = 0;
  /// Seconds per call, one result per repeat, in the order measured.
  std::vector<double> results;

  /// Computes the statistics. Precondition: `results` is not empty.
  static Timing of(std::vector<double> results);
};

/// Number and duration of measurements.
struct TimeOptions {
  /// Calls per measurement. A result is the duration of a measurement divided by the number of its
  /// calls.
  int number = 10;
  /// Number of measurements. Each gives one result.
  int repeat = 1;
  /// Minimum duration of a measurement. A shorter one is discarded and repeated with more calls.
  double min_repeat_ms = 0;
};

}  // namespace tenon::runtime
