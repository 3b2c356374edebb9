#include "tune/progress.h"

#include <unistd.h>

#include <cstdio>

namespace tenon::tune {

Progress::Progress(bool is_wanted) : is_wanted_(is_wanted && isatty(STDERR_FILENO) == 1) {}

void Progress::show(int trials, int of, std::optional<double> best_seconds) {
  if (!is_wanted_) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const double rate = seconds > 0 ? trials / seconds : 0;
  std::fprintf(stderr, "\r\33[K%d/%d trials", trials, of);
  if (best_seconds) std::fprintf(stderr, ", best %.4g us", *best_seconds * 1e6);
  if (rate > 0)
    std::fprintf(stderr, ", %.3g trials/s, at most %.0f s left", rate, (of - trials) / rate);
  std::fflush(stderr);
}

void Progress::clear() {
  if (is_wanted_) std::fputs("\r\33[K", stderr);
}

}  // namespace tenon::tune
