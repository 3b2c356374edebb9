// How far long work has come, as one line on a terminal that is drawn over until the work is done:
//
//   Progress progress({.what = "cases", .total = 20'000});
//   for (...) { ...; progress.add(); }
//
//   cases: 1200 of 20000, 153 per second, 2 min 3 s left
//
// It appears after two seconds, and is gone when the work ends. Where the standard error is no
// terminal, nothing is written.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tenon {

/// What is counted, and where it is drawn.
struct ProgressOptions {
  /// What is counted, in the plural.
  std::string what = "steps";
  /// How many there are to do; absent where nobody knows.
  std::optional<std::int64_t> total = std::nullopt;
  /// When the work ends, done or not.
  std::optional<double> most_seconds = std::nullopt;
  /// The file that is drawn on; 2 is the standard error.
  int file = 2;
  /// Seconds since any moment; for tests.
  std::function<double()> clock = {};
};

/// "cases: 1200 of 20000, 153 per second, 2 min 3 s left". `note`, where there is one, comes last.
std::string progress_text(const ProgressOptions& options, std::int64_t done, double elapsed,
                          const std::string& note = "");

/// For one thread.
class Progress {
 public:
  explicit Progress(ProgressOptions options = {});
  /// Takes the line away.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// So many more are done. Draws at most ten times a second.
  void add(std::int64_t more = 1) { set(done_ + more); }
  /// So many are done in all; may be called again with the same number, to go on counting time.
  void set(std::int64_t done, const std::string& note = "");
  /// Takes the line away until the next call: before something else is written there.
  void hide();

 private:
  ProgressOptions options_;
  bool is_terminal_;
  double start_;
  std::int64_t done_ = 0;
  double drawn_at_ = 0;
  bool is_drawn_ = false;
};

}  // namespace tenon
