#include "tests/s_tir/golden_cases.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "tenon_test_paths.h"

namespace tenon::s_tir {

namespace {

const std::filesystem::path kFolder = std::filesystem::path(TENON_GOLDEN_DIR) / "blocks";

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<GoldenCase> read_cases() {
  std::vector<GoldenCase> cases;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder / "random")) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".trace.txt")) continue;
    const std::string name = file.substr(0, file.find('.'));
    const auto part = [&](const char* kind) {
      return contents(kFolder / "random" / (name + "." + kind + ".txt"));
    };
    cases.push_back({name, part("in"), part("trace"), part("out"), part("refused")});
  }
  std::sort(cases.begin(), cases.end(),
            [](const GoldenCase& a, const GoldenCase& b) { return a.name < b.name; });
  return cases;
}

}  // namespace

const std::vector<GoldenCase>& golden_cases() {
  static const std::vector<GoldenCase> kCases = read_cases();
  return kCases;
}

std::string golden_text(const std::filesystem::path& name) { return contents(kFolder / name); }

std::string golden_section(const std::string& text, const std::string& heading) {
  const std::string line = "===== " + heading + "\n";
  const std::size_t begin = text.find(line);
  if (begin == std::string::npos) return "no section `" + heading + "`";
  const std::size_t end = text.find("===== ", begin + line.size());
  return text.substr(begin + line.size(), end - begin - line.size());
}

std::string normalized(const std::string& text) {
  std::istringstream in(text);
  std::string result, line;
  while (std::getline(in, line)) {
    while (!line.empty() && line.back() == ' ') line.pop_back();
    if (!line.empty() && line != "<EOF>") result += line + "\n";
  }
  return result;
}

std::vector<RefusedCall> refused_calls(const std::string& text) {
  std::vector<RefusedCall> result;
  std::istringstream in(text);
  std::string line, trace;
  while (std::getline(in, line)) {
    if (line.starts_with("--> ")) {
      result.push_back({trace, line.substr(4), ""});
    } else if (line.starts_with("    ")) {
      if (!result.empty()) result.back().message += line;
    } else {
      // Every trace begins anew.
      if (line.starts_with("b0 =")) trace.clear();
      trace += line + "\n";
    }
  }
  return result;
}

}  // namespace tenon::s_tir
