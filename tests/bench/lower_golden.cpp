// How long `lower` takes for the programs whose texts are known. The tutorials report it themselves
// (--time-passes), each in a process of its own, so that a first lowering is measured; the random
// programs and those of topi are lowered again and again, as in tuning.
#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <map>
#include <ranges>
#include <sstream>

#include "tests/bench/common/golden_programs.h"

namespace {

using namespace tenon;

#ifdef TENON_HAVE_KNOWN_PROGRAMS

using Clock = std::chrono::steady_clock;

/// Milliseconds, in the mean of all programs, and where they go.
struct Times {
  std::vector<double> of_programs;
  std::map<std::string, double> of_steps;
  int lowerings = 0;

  /// The median of several times.
  void add(const known_programs::Lowered& program) {
    constexpr int kTimes = 9;
    LowerOptions options = {.simple_mode = true};
    options.on_step = [&](std::string_view step, double seconds) {
      of_steps[std::string(step)] += seconds * 1e3;
    };
    options.passes.on_pass = [&](const lowering::PassOptions::PassReport& report) {
      of_steps[std::string(report.pass)] += report.seconds * 1e3;
    };
    std::vector<double> times;
    for (int i = 0; i < kTimes; ++i) {
      const Clock::time_point start = Clock::now();
      lower(program.schedule, program.args, options);
      times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    lowerings += kTimes;
    std::nth_element(times.begin(), times.begin() + kTimes / 2, times.end());
    of_programs.push_back(times[kTimes / 2]);
  }

  void print(const std::string& what) const {
    std::cout << bench::summary_of(what, of_programs) << "\n  in the mean of all lowerings:";
    std::vector<std::pair<std::string, double>> steps(of_steps.begin(), of_steps.end());
    std::ranges::sort(steps, std::greater<>(), &std::pair<std::string, double>::second);
    constexpr std::size_t kShown = 12;
    for (const auto& [step, time] : steps | std::views::take(kShown))
      std::cout << "  " << step << " " << std::fixed << std::setprecision(3) << time / lowerings;
    std::cout << std::endl;
  }
};

void lower_known_programs(const std::string& what,
                          const std::vector<known_programs::Program>& programs) {
  Times times;
  bench::for_each_schedule(what, programs,
                           [&](const known_programs::Lowered& lowered) { times.add(lowered); });
  times.print(what);
}

#endif

std::string row_of(const bench::Output& output) {
  std::ostringstream row;
  for (const std::vector<double>& lowered : bench::milliseconds_in(output.text, "lower"))
    row << std::fixed << std::setprecision(2) << std::setw(8) << lowered.front();
  return row.str() + (output.is_success ? "" : "  failed");
}

}  // namespace

int main(int, char** argv) {
  bool is_success = true;
  const auto row = [&](const bench::Output& output) {
    is_success &= output.is_success;
    return row_of(output);
  };
  if (!bench::print_rows_of_tutorials(argv[0],
                                      "milliseconds of lower, for each schedule of each program",
                                      "--emit=simple --time-passes", row))
    return 1;
#ifdef TENON_HAVE_KNOWN_PROGRAMS
  lower_known_programs("random programs", known_programs::random_programs());
  lower_known_programs("topi", known_programs::topi_programs());
#endif
  return is_success ? 0 : 1;
}
