// How long `lower` takes for the programs whose texts are known. The tutorials report it themselves
// (--time-passes), each in a process of its own, so that a first lowering is measured; the random
// programs and those of topi are lowered again and again, as in tuning.
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <ranges>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tenon/support/progress.h"
#ifdef TENON_HAVE_KNOWN_PROGRAMS
#include "tests/golden/known_programs.h"
#endif

namespace {

namespace fs = std::filesystem;

/// Standard output and error of a command together; empty if it failed.
std::string output_of(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return "";
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  const int status = ::pclose(pipe);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? text : "";
}

/// The milliseconds in the lines "lower <schedule>: <number> ms".
std::vector<double> lower_times(const std::string& text) {
  std::vector<double> times;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.rfind(": ");
    if (!line.starts_with("lower ") || !line.ends_with(" ms") || colon == std::string::npos)
      continue;
    times.push_back(std::stod(line.substr(colon + 2)));
  }
  return times;
}

/// Block programs have no schedule that lower is given, and no such options.
bool is_about_blocks(const std::string& program) {
  static const std::set<std::string> names = {"conv_blocks",  "create_prim_func", "mm_relu",
                                              "replay_trace", "stochastic_mm",    "tune_mm",
                                              "tune_network", "tune_te"};
  return names.contains(program);
}

#ifdef TENON_HAVE_KNOWN_PROGRAMS

using Clock = std::chrono::steady_clock;

/// Milliseconds, in the mean of all programs, and where they go.
struct Times {
  std::vector<double> of_programs;
  std::map<std::string, double> of_steps;
  int lowerings = 0;

  /// The median of several times.
  void add(const tenon::known_programs::Lowered& program) {
    constexpr int kTimes = 9;
    tenon::LowerOptions options = {.simple_mode = true};
    options.on_step = [&](std::string_view step, double seconds) {
      of_steps[std::string(step)] += seconds * 1e3;
    };
    options.passes.on_pass = [&](const tenon::lowering::PassOptions::PassReport& report) {
      of_steps[std::string(report.pass)] += report.seconds * 1e3;
    };
    std::vector<double> times;
    for (int i = 0; i < kTimes; ++i) {
      const Clock::time_point start = Clock::now();
      tenon::lower(program.schedule, program.args, options);
      times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    }
    lowerings += kTimes;
    std::nth_element(times.begin(), times.begin() + kTimes / 2, times.end());
    of_programs.push_back(times[kTimes / 2]);
  }

  void print(const std::string& what) const {
    const double sum = std::accumulate(of_programs.begin(), of_programs.end(), 0.0);
    std::cout << what << ": " << of_programs.size() << " schedules, mean " << std::setprecision(3)
              << sum / static_cast<double>(of_programs.size()) << ", at most "
              << *std::ranges::max_element(of_programs) << "\n  in the mean of all lowerings:";
    std::vector<std::pair<std::string, double>> steps(of_steps.begin(), of_steps.end());
    std::ranges::sort(steps, std::greater<>(), &std::pair<std::string, double>::second);
    constexpr std::size_t kShown = 12;
    for (const auto& [step, time] : steps | std::views::take(kShown))
      std::cout << "  " << step << " " << time / lowerings;
    std::cout << std::endl;
  }
};

void lower_known_programs(const std::string& what,
                          const std::vector<tenon::known_programs::Program>& programs) {
  Times times;
  tenon::Progress progress({.what = what, .total = static_cast<std::int64_t>(programs.size())});
  for (const tenon::known_programs::Program& program : programs) {
    progress.add();
    for (const tenon::known_programs::Lowered& lowered : tenon::known_programs::lowered_by(program))
      times.add(lowered);
  }
  progress.hide();
  times.print(what);
}

#endif

}  // namespace

int main(int, char** argv) {
  const fs::path tutorials = fs::canonical(argv[0]).parent_path().parent_path() / "tutorials";
  std::vector<fs::path> programs;
  if (fs::is_directory(tutorials))
    for (const fs::directory_entry& entry : fs::directory_iterator(tutorials))
      if (entry.is_regular_file() && !is_about_blocks(entry.path().filename()))
        programs.push_back(entry.path());
  std::sort(programs.begin(), programs.end());
  if (programs.empty()) {
    std::cerr << "lower_golden: no tutorials in " << tutorials << "; build them first\n";
    return 1;
  }
  int failed = 0;
  tenon::Progress progress(
      {.what = "programs", .total = static_cast<std::int64_t>(programs.size())});
  std::cout << "milliseconds of lower, for each schedule of each program\n";
  for (const fs::path& program : programs) {
    progress.add();
    const std::string text = output_of("'" + program.string() + "' --emit=simple --time-passes");
    progress.hide();
    std::cout << std::left << std::setw(26) << program.filename().string() << std::right
              << std::fixed << std::setprecision(2);
    if (text.empty()) std::cout << "  failed", ++failed;
    for (const double time : lower_times(text)) std::cout << std::setw(8) << time;
    std::cout << std::endl;
  }
#ifdef TENON_HAVE_KNOWN_PROGRAMS
  lower_known_programs("random programs", tenon::known_programs::random_programs());
  lower_known_programs("topi", tenon::known_programs::topi_programs());
#endif
  return failed ? 1 : 0;
}
