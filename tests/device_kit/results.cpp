#include "tests/device_kit/results.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "tenon/support/error.h"

namespace tenon::device_kit {

using nlohmann::json;
namespace fs = std::filesystem;

Results::Results(std::string path) : path_(std::move(path)) {
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);)
    if (const json parsed = json::parse(line, nullptr, false); parsed.is_object())
      lines_.push_back(parsed);
}

void Results::add(json line) {
  // Messages of a driver may be in any encoding.
  const std::string text = line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  std::FILE* file = std::fopen(path_.c_str(), "a");
  if (file == nullptr) throw RuntimeError(path_ + " cannot be written");
  // Ends a line that was truncated by a kill.
  if (std::ftell(file) == 0) std::fseek(file, 0, SEEK_END);
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
  fsync(fileno(file));
  std::fclose(file);
  lines_.push_back(std::move(line));
}

namespace {

/// The case, or the step of steps.jsonl.
std::string name_of(const json& line) { return line.value("case", line.value("step", "")); }

}  // namespace

bool report(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path().string());
  std::ranges::sort(files);
  bool is_right = true;
  std::vector<json> wrong, rows;
  std::printf("%-24s %7s %7s %7s %7s %7s %9s\n", "step", "right", "wrong", "error", "crashed",
              "skipped", "seconds");
  for (const std::string& file : files) {
    std::map<std::string, int> counts;
    double seconds = 0;
    // Only a case's last line counts; a case may have been run again.
    std::map<std::string, json> last;
    const Results results(file);
    for (const json& line : results.lines())
      last[name_of(line) + " " + line.value("group", "")] = line;
    for (const auto& [name, line] : last) {
      if (line.contains("table")) rows.push_back(line);
      if (!line.contains("status")) continue;
      const std::string status = line["status"];
      ++counts[status];
      seconds += line.value("seconds", 0.0);
      if (status != "right" && status != "skipped") wrong.push_back(line);
    }
    if (counts.empty()) continue;
    std::printf("%-24s %7d %7d %7d %7d %7d %9.2f\n", fs::path(file).stem().c_str(), counts["right"],
                counts["wrong"], counts["error"], counts["crashed"], counts["skipped"], seconds);
  }
  constexpr std::size_t kMaxWrong = 40;
  for (std::size_t n = 0; n < wrong.size(); ++n) {
    is_right = false;
    if (n == kMaxWrong) std::printf("... and %zu more\n", wrong.size() - n);
    if (n >= kMaxWrong) continue;
    std::printf("%s %s: %.150s\n", name_of(wrong[n]).c_str(), wrong[n].value("status", "").c_str(),
                wrong[n].value("what", "").c_str());
  }
  if (!rows.empty())
    std::printf("%-14s %-32s %12s %-10s %-10s %12s %7s\n", "table", "case", "value", "unit", "peer",
                "peer's", "ratio");
  for (const json& row : rows)
    std::printf("%-14s %-32s %12.1f %-10s %-10s %12.1f %7.2f\n", row.value("table", "").c_str(),
                row.value("case", "").c_str(), row.value("value", 0.0),
                row.value("unit", "").c_str(), row.value("peer", "").c_str(),
                row.value("peer_value", 0.0), row.value("ratio", 0.0));
  return is_right;
}

}  // namespace tenon::device_kit
