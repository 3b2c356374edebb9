// The programs whose texts are known, for benchmarks of the compiler: the tutorials, each in a
// process of its own, and the random programs and those of topi, which are here.
#pragma once

#include <functional>
#include <string>
#include <vector>

#ifdef TENON_HAVE_KNOWN_PROGRAMS
#include "tests/golden/known_programs.h"
#endif

namespace tenon::bench {

/// The text that a program wrote to both of its outputs, and whether it succeeded.
struct Output {
  std::string text;
  bool is_success;
};

/// Runs every tutorial about schedules with the options, and prints a title and what `row` makes of
/// each output, a line each. False, said on standard error, if none are built beside the benchmark
/// that was started as `program`.
bool print_rows_of_tutorials(const char* program, const std::string& title,
                             const std::string& options,
                             const std::function<std::string(const Output& output)>& row);

/// The numbers before " ms" in the lines of the output that begin with the word: one from each
/// line, or several.
std::vector<std::vector<double>> milliseconds_in(const std::string& output,
                                                 const std::string& word);

#ifdef TENON_HAVE_KNOWN_PROGRAMS
/// Calls `f` with each schedule of the programs, and shows how far it is.
void for_each_schedule(const std::string& what,
                       const std::vector<known_programs::Program>& programs,
                       const std::function<void(const known_programs::Lowered&)>& f);
#endif

/// "random programs: 120 schedules, mean 0.322, at most 1.643"
std::string summary_of(const std::string& what, const std::vector<double>& milliseconds);

}  // namespace tenon::bench
