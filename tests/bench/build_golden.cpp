// How long it takes to compile the programs whose texts are known, and how much of that LLVM takes.
// The tutorials report it themselves (--time-passes), each in a process of its own, whose first
// schedule waits for LLVM to begin; the random programs and those of topi are built again and
// again, as in tuning.
#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <sstream>

#include "tenon/driver/build.h"
#include "tenon/tooling/step_times.h"
#include "tests/bench/common/golden_programs.h"

namespace {

using namespace tenon;

#ifdef TENON_HAVE_KNOWN_PROGRAMS

using Clock = std::chrono::steady_clock;

/// Milliseconds of a build, and of LLVM in it.
struct Time {
  double all, llvm;
};

Time time_of(const known_programs::Lowered& program) {
  double llvm = 0;
  const Clock::time_point start = Clock::now();
  build(program.schedule, program.args, Target("llvm"),
        {.on_step = [&](std::string_view step, double seconds) {
          if (is_step_of_llvm(step)) llvm += seconds * 1e3;
        }});
  return {std::chrono::duration<double, std::milli>(Clock::now() - start).count(), llvm};
}

/// The middle one of several builds. Programs for other devices are left out, and counted.
void build_known_programs(const std::string& what,
                          const std::vector<known_programs::Program>& programs) {
  constexpr int kTimes = 3;
  std::vector<double> all, llvm;
  int refused = 0;
  bench::for_each_schedule(what, programs, [&](const known_programs::Lowered& lowered) {
    std::vector<Time> times;
    try {
      for (int n = 0; n < kTimes; ++n) times.push_back(time_of(lowered));
    } catch (const InternalError&) {
      throw;
    } catch (const Error&) {
      ++refused;
      return;
    }
    std::ranges::nth_element(times, times.begin() + kTimes / 2, {}, &Time::all);
    all.push_back(times[kTimes / 2].all);
    llvm.push_back(times[kTimes / 2].llvm);
  });
  const double of_llvm = std::accumulate(llvm.begin(), llvm.end(), 0.0);
  std::cout << bench::summary_of(what, all) << "; LLVM's part of the mean " << std::fixed
            << std::setprecision(3) << of_llvm / static_cast<double>(llvm.size()) << "; " << refused
            << " refused" << std::endl;
}

#endif

/// Schedules for other devices, and those that race, are refused for processors.
std::string row_of(const bench::Output& output) {
  std::ostringstream row;
  for (const std::vector<double>& built : bench::milliseconds_in(output.text, "compile")) {
    row << std::fixed << std::setprecision(1) << std::setw(8) << built.front();
    if (built.size() > 1) row << " (" << built[1] << ")";
  }
  return row.str() + (output.is_success ? "" : "  refused");
}

}  // namespace

int main(int, char** argv) {
  if (!bench::print_rows_of_tutorials(
          argv[0], "milliseconds of compiling, for each schedule of each program (LLVM's part)",
          "--emit=asm --target=llvm --time-passes", row_of))
    return 1;
#ifdef TENON_HAVE_KNOWN_PROGRAMS
  build_known_programs("random programs", known_programs::random_programs());
  build_known_programs("topi", known_programs::topi_programs());
#endif
}
