// Results as lines of JSON: each is in the file when it is known, so that a stop loses nothing, and
// a file that is there is gone on with.
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
  /// Reads what is there; a last line that a stop cut off is dropped.
  explicit Results(std::string path);

  const std::vector<nlohmann::json>& lines() const { return lines_; }
  /// Appends, and writes through to the disk.
  void add(nlohmann::json line);

 private:
  std::string path_;
  std::vector<nlohmann::json> lines_;
};

/// Prints one page of what the files of a folder say. Whether all of it is right.
bool report(const std::string& folder);

}  // namespace tenon::device_kit
