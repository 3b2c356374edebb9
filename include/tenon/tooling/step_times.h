// Durations of the compiler's steps, and the names of its passes.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tenon/lower/pipeline.h"

namespace tenon {

/// Collects the durations of all steps: passes, and the steps before and after them.
class StepTimes {
 public:
  void add(std::string_view step, double seconds);
  /// Prints one line per step with milliseconds and share of the total, slowest first, and then the
  /// total.
  void print(std::ostream& out) const;

 private:
  /// The steps and their seconds, in order of first occurrence.
  std::vector<std::pair<std::string, double>> steps_;
};

/// Whether LLVM performs this step of a build.
bool is_step_of_llvm(std::string_view step);

/// Returns the names of all passes in execution order.
std::vector<std::string> pass_names();

}  // namespace tenon
