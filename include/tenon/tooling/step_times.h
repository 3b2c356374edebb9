// Durations of the compiler's steps, and the names of its passes.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "tenon/lower/pipeline.h"

namespace tenon {

/// The steps and their seconds, in order of first occurrence: passes, and the steps before and
/// after them.
using StepTimes = std::vector<std::pair<std::string, double>>;

void add_step(StepTimes& times, std::string_view step, double seconds);
/// Prints one line per step with milliseconds and share of the total, slowest first, and then the
/// total.
void print_steps(std::ostream& out, const StepTimes& times);

/// Whether LLVM performs this step of a build.
bool is_step_of_llvm(std::string_view step);

/// Returns the names of all passes in execution order.
std::vector<std::string> pass_names();

}  // namespace tenon
