// The result of timing a function, in seconds per call.
//
//   Timing t = mod["f"].time_evaluator(cpu(0), {.number = 10, .repeat = 3})(a, b, c);
//   t.median, t.results.size() == 3
#pragma once

#include <vector>

namespace tenon::runtime {

struct Timing {
  double mean = 0;
  /// The mean of the middle two if the number of results is even.
  double median = 0;
  double min = 0;
  double max = 0;
  /// The results are the whole population (divided by n, not n - 1).
  double stdev = 0;
  /// One per repeat, in the order measured.
  std::vector<double> results;

  /// The statistics of the results; at least one.
  static Timing of(std::vector<double> results);
};

/// How often to call, and for how long.
struct TimeOptions {
  /// Calls measured together; a result is their time divided by their number.
  int number = 10;
  /// Results to take.
  int repeat = 1;
  /// While a measurement takes less than this, it is thrown away and done again with a larger
  /// number.
  double min_repeat_ms = 0;
};

}  // namespace tenon::runtime
