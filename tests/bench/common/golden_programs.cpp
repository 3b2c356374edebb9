#include "tests/bench/common/golden_programs.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>

#include "tenon/support/progress.h"

namespace tenon::bench {

namespace fs = std::filesystem;

namespace {

Output output_of(const std::string& command) {
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return {"", false};
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  const int status = ::pclose(pipe);
  return {std::move(text), WIFEXITED(status) && WEXITSTATUS(status) == 0};
}

/// Block programs have no schedule that lower is given, and no such options.
bool is_about_blocks(const std::string& program) {
  static const std::set<std::string> names = {"conv_blocks",  "create_prim_func", "mm_relu",
                                              "replay_trace", "stochastic_mm",    "tune_mm",
                                              "tune_network", "tune_te"};
  return names.contains(program);
}

/// Built beside the benchmark that was started as `program`.
std::vector<fs::path> schedule_tutorials(const char* program) {
  const fs::path folder = fs::canonical(program).parent_path().parent_path() / "tutorials";
  std::vector<fs::path> tutorials;
  if (fs::is_directory(folder))
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (entry.is_regular_file() && !is_about_blocks(entry.path().filename()))
        tutorials.push_back(entry.path());
  std::sort(tutorials.begin(), tutorials.end());
  return tutorials;
}

}  // namespace

bool print_rows_of_tutorials(const char* program, const std::string& title,
                             const std::string& options,
                             const std::function<std::string(const Output& output)>& row) {
  const std::vector<fs::path> tutorials = schedule_tutorials(program);
  if (tutorials.empty()) {
    std::cerr << fs::path(program).filename().string()
              << ": no tutorials beside it; build them first\n";
    return false;
  }
  std::cout << title << "\n";
  Progress progress({.what = "programs", .total = static_cast<std::int64_t>(tutorials.size())});
  for (const fs::path& tutorial : tutorials) {
    progress.add();
    const Output output = output_of("'" + tutorial.string() + "' " + options);
    progress.hide();
    std::cout << std::left << std::setw(26) << tutorial.filename().string() << row(output)
              << std::endl;
  }
  return true;
}

std::vector<std::vector<double>> milliseconds_in(const std::string& output,
                                                 const std::string& word) {
  static const std::regex number("([0-9.e+-]+) ms");
  std::vector<std::vector<double>> found;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(word + " ")) continue;
    std::vector<double>& numbers = found.emplace_back();
    for (std::sregex_iterator at(line.begin(), line.end(), number), end; at != end; ++at)
      numbers.push_back(std::stod((*at)[1]));
  }
  return found;
}

#ifdef TENON_HAVE_KNOWN_PROGRAMS

void for_each_schedule(const std::string& what,
                       const std::vector<known_programs::Program>& programs,
                       const std::function<void(const known_programs::Lowered&)>& f) {
  Progress progress({.what = what, .total = static_cast<std::int64_t>(programs.size())});
  for (const known_programs::Program& program : programs) {
    progress.add();
    for (const known_programs::Lowered& lowered : known_programs::lowered_by(program)) f(lowered);
  }
}

#endif

std::string summary_of(const std::string& what, const std::vector<double>& milliseconds) {
  const double sum = std::accumulate(milliseconds.begin(), milliseconds.end(), 0.0);
  std::ostringstream text;
  text << what << ": " << milliseconds.size() << " schedules, mean " << std::fixed
       << std::setprecision(3) << sum / static_cast<double>(milliseconds.size()) << ", at most "
       << *std::ranges::max_element(milliseconds);
  return text.str();
}

}  // namespace tenon::bench
