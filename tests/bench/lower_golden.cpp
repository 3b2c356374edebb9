// How long `lower` takes for the programs whose texts are known: the tutorials report it themselves
// (--time-passes), each in a process of its own, so that a first lowering is measured.
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tenon/support/progress.h"

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
  return failed ? 1 : 0;
}
