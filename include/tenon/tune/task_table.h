// The table of tasks that tuning prints after each round, and the arithmetic behind it.
//
//   ID | Name |    FLOP | Weight | Speed (GFLOPS) | Latency (us) | Weighted Latency (us) | Trials | Done
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tenon/tir/function.h"

namespace tenon::tune {

/// Operations on values in one run of a block program: arithmetic, comparisons, minima and maxima
/// count 1 each, inits, casts, calls and what stands in indices 0. 2 * m * n * k for a product.
/// Loops whose extent is no constant count as one iteration.
double estimate_flops(const tir::IRModule& mod);

/// A row of the table.
struct TaskRow {
  std::string name;
  double flops = 0;
  /// How often the program occurs in what is tuned.
  int weight = 1;
  int trials = 0;
  /// The least median so far; none before there is one.
  std::optional<double> seconds = std::nullopt;
  bool is_done = false;
};

/// The table, and the sums below it: "Total trials: 5", "Total latency (us): 316.942"; rows without
/// a time are not in them. Every line ends with a newline.
std::string table_text(const std::vector<TaskRow>& rows);

}  // namespace tenon::tune
