// The line at the bottom of a terminal while candidates run.
#pragma once

#include <chrono>
#include <optional>

namespace tenon::tune {

class Progress {
 public:
  /// Shown only where the standard error is a terminal.
  explicit Progress(bool is_wanted);

  /// "12/64 trials, best 23.1 us, 3.2 trials/s, at most 16 s left"
  void show(int trials, int of, std::optional<double> best_seconds);
  /// Leaves the line empty, for the log.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool is_wanted_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace tenon::tune
