// Results as lines of JSON. Each line is written to the disk at once, so that an interrupted run
// loses nothing and can be resumed.
//
//   Results results("results/topi.jsonl");
//   if (!results.has("case", "matmul_33x17x9")) results.add({{"case", "matmul_33x17x9"}, ...});
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tenon::device_kit {

class Results {
 public:
  /// Reads the existing lines. Drops a truncated last line.
  explicit Results(std::string path);

  const std::vector<nlohmann::json>& lines() const { return lines_; }
  /// Appends a line and flushes it to the disk.
  void add(nlohmann::json line);

 private:
  std::string path_;
  std::vector<nlohmann::json> lines_;
};

/// Prints a summary of the result files in a folder. Returns whether every result is right.
bool report(const std::string& folder);

}  // namespace tenon::device_kit
