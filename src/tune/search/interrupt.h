// Deferred handling of Ctrl-C while a tuner works.
#pragma once

#include <csignal>

namespace tenon::tune {

/// Handles SIGINT during its lifetime. A handler of the program is called too. A second SIGINT has
/// its default effect.
class InterruptGuard {
 public:
  explicit InterruptGuard(bool is_wanted);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Whether SIGINT has been received since construction.
  bool is_interrupted() const;

 private:
  bool is_wanted_;
  struct sigaction before_ {};
};

}  // namespace tenon::tune
