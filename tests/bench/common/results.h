// A row's result: as a line of a table, as JSON, and beside the same row of an earlier run.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tenon::bench {

using Json = nlohmann::ordered_json;

/// A contestant whose name begins with this is not a library: "Tenon-direct" is another form.
inline constexpr const char* kTenon = "Tenon";
inline constexpr const char* kCopy = "copy";

/// The name of a row without the spaces that set it in columns.
std::string key_of(const std::string& name);

struct Result {
  std::string name;
  int threads;
  /// Operations or bytes of a run.
  double work;
  bool is_in_bytes;
  /// 10^9 of them a second.
  double limit;
  /// Time of a run: Tenon's, and those of the libraries.
  std::map<std::string, double> seconds;
  /// The least time by each limit of the machine: "multiply-adds", "memory", "call".
  std::map<std::string, double> bounds = {};

  /// 10^9 operations or bytes a second.
  double rate(const std::string& who) const { return work / seconds.at(who) * 1e-9; }
  /// The fastest library; nullopt without libraries.
  std::optional<std::string> best_peer() const;
  /// Time of the best peer relative to Tenon's; 0 without libraries.
  double ratio() const;
  /// The limit that takes longest, and Tenon's share of it: "memory 83 %".
  std::string reason() const;
};

/// Several lines about the rows that have peers: the geometric mean and the 5th percentile of the
/// ratios, and the ten worst rows with their reasons.
std::string distribution_of(const std::vector<Result>& results);

/// Without an end of line. Shares of the limit; how many times as fast as the best peer.
std::string line_of(const Result& result);
Json json_of(const Result& result);

/// The rows of programs, by the program's name.
class ResultFile {
 public:
  /// Empty where there is no such file. std::runtime_error: it is no JSON.
  static ResultFile read(const std::string& path);
  /// std::runtime_error: it cannot be written.
  void write(const std::string& path) const;

  /// The row of that name and number of threads.
  std::optional<Json> find(const std::string& program, const Result& result) const;
  /// In place of an earlier one.
  void put(const std::string& program, const Result& result);

 private:
  Json programs_ = Json::object();
};

}  // namespace tenon::bench
