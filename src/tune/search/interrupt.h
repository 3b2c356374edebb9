// Ctrl-C while a tuner works: noted, not obeyed at once.
#pragma once

#include <csignal>

namespace tenon::tune {

/// Takes SIGINT over while it lives. A second one does what it did before.
class InterruptGuard {
 public:
  explicit InterruptGuard(bool is_wanted);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Whether there was one since this was made.
  bool is_interrupted() const;

 private:
  bool is_wanted_;
  struct sigaction before_ {};
};

}  // namespace tenon::tune
