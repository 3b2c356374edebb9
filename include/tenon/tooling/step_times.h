// What the steps of the compiler took, and the names of the passes among them. For the command
// line, and for whoever debugs a pass.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tenon/lower/pipeline.h"

namespace tenon {

/// Collects the time of every step that ran: of passes, and of the steps before and after them.
class StepTimes {
 public:
  void add(std::string_view step, double seconds);
  /// A line for each step with its milliseconds and its share of their sum, the slowest first; the
  /// sum last.
  void print(std::ostream& out) const;

 private:
  struct Row {
    std::string step;
    double seconds;
  };
  std::vector<Row> rows_;
};

/// Whether LLVM does that step of a build, and not the compiler in front of it.
bool is_step_of_llvm(std::string_view step);

/// The names of all passes, in the order in which they run.
std::vector<std::string> pass_names();

}  // namespace tenon
