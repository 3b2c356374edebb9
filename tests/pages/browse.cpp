#include "browse.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include "tenon_test_paths.h"

namespace tenon {

namespace fs = std::filesystem;

Browsing::Browsing() {
  static int count = 0;
  folder_ = fs::temp_directory_path() /
            ("tenon_pages_" + std::to_string(::getpid()) + "_" + std::to_string(count++));
  fs::create_directories(folder_);
}

Browsing::~Browsing() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void Browsing::open(const std::string& name, const std::string& page) {
  const fs::path file = folder_ / ("page" + std::to_string(steps_.size()) + ".html");
  std::ofstream(file) << page;
  steps_.push_back({{"open", file.string()}, {"name", name}});
}

void Browsing::run(const std::string& name, const std::string& script) {
  steps_.push_back({{"run", script}, {"name", name}});
}

void Browsing::press(const std::string& keys) { steps_.push_back({{"press", keys}}); }

void Browsing::prefer(const std::string& scheme) { steps_.push_back({{"scheme", scheme}}); }

void Browsing::print(const std::string& name) { steps_.push_back({{"print", name}}); }

std::optional<Browsed> Browsing::browse() const {
  constexpr int kNoBrowser = 77;
  std::ofstream(folder_ / "steps.json") << steps_.dump();
  const std::string command = "python3 '" TENON_SOURCE_DIR "/tests/pages/browse.py' '" +
                              (folder_ / "steps.json").string() + "' 2>&1";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  std::string out;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) out.append(buffer, n);
  const int status = ::pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoBrowser) return std::nullopt;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error(out);
  const nlohmann::json answer = nlohmann::json::parse(out);
  return Browsed{answer.at("results"), answer.at("console").get<std::vector<std::string>>()};
}

}  // namespace tenon
