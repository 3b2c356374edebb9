// The table of tasks that tuning prints after each round, and its computations.
//
//   ID | Name |    FLOP | Weight | Speed (GFLOPS) | Latency (us) | Weighted Latency (us) | Trials | Done
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/tir/function.h"

namespace tenon::tune {

/// Returns the number of operations on values in one run of a block program: arithmetic,
/// comparisons, minima and maxima count 1 each; inits, casts, calls and index arithmetic count 0. A
/// matrix product has 2 * m * n * k. A loop of non-constant extent counts as one iteration.
double estimate_flops(const tir::IRModule& mod);

/// A row of the table.
struct TaskRow {
  std::string name;
  double flops = 0;
  /// Number of times that the larger program contains this one.
  int weight = 1;
  int trials = 0;
  /// The smallest median so far; nullopt before the first.
  std::optional<double> seconds = std::nullopt;
  bool is_done = false;
};

/// Returns the table, followed by the sums: "Total trials: 5", "Total latency (us): 316.942". Rows
/// without a time are not part of the sums. Every line ends with a newline.
std::string table_text(const std::vector<TaskRow>& rows);

}  // namespace tenon::tune
