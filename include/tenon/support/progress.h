// The progress of long work, as one line on a terminal that is redrawn until the work is done:
//
//   Progress progress({.what = "cases", .total = 20'000});
//   for (...) { ...; progress.add(); }
//
//   cases: 1200 of 20000, 153 per second, 2 min 3 s left
//
// The line appears after two seconds and is removed at the end. Nothing is written if stderr is not
// a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tenon {

/// Options of a progress line: the work to show, and the file to draw on.
struct ProgressOptions {
  /// The name of the items, in the plural.
  std::string what = "steps";
  /// Total number of items; nullopt if unknown.
  std::optional<std::int64_t> total = std::nullopt;
  /// Time limit after which the work ends; nullopt for no limit.
  std::optional<double> most_seconds = std::nullopt;
  /// The file descriptor to draw on; 2 is stderr.
  int file = 2;
  /// Returns the time in seconds since a fixed moment. For tests.
  std::function<double()> clock = {};
};

/// Returns "cases: 1200 of 20000, 153 per second, 2 min 3 s left", followed by `note` if there is
/// one.
std::string progress_text(const ProgressOptions& options, std::int64_t done, double elapsed,
                          const std::string& note = "");

/// The progress line of one thread's work.
class Progress {
 public:
  explicit Progress(ProgressOptions options = {});
  /// Removes the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Adds `more` finished items. Draws at most ten times a second.
  void add(std::int64_t more = 1) { set(done_ + more); }
  /// Sets the number of finished items. May be called again with the same number to update the
  /// time.
  void set(std::int64_t done, const std::string& note = "");
  /// Removes the line until the next call, so that other text can be written.
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
