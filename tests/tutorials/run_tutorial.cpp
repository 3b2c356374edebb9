#include "run_tutorial.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include "tenon_test_paths.h"

namespace fs = std::filesystem;

Outcome run_tutorial(const std::string& name, const std::string& options) {
  const fs::path program = fs::path(TENON_BINARY_DIR) / "tutorials" / name;
  if (!fs::exists(program))
    throw std::runtime_error("the tutorial is not built: " + program.string());
  const fs::path errors =
      fs::temp_directory_path() / ("tenon_" + name + "_" + std::to_string(::getpid()));
  const std::string command =
      "'" + program.string() + "' " + options + " 2>'" + errors.string() + "'";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  Outcome run{-1, "", ""};
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    run.out.append(buffer, n);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) run.status = WEXITSTATUS(status);
  std::ostringstream err;
  err << std::ifstream(errors).rdbuf();
  run.err = err.str();
  fs::remove(errors);
  return run;
}

std::vector<std::string> programs_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(fs::path(TENON_SOURCE_DIR) / folder))
    if (file.path().extension() == ".cpp") names.push_back(file.path().stem().string());
  std::ranges::sort(names);
  return names;
}
