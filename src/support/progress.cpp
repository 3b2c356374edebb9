#include "tenon/support/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace tenon {

namespace {

constexpr double kAppearsAfter = 2;
constexpr double kBetween = 0.1;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string rate_text(double per_second) {
  char text[64];
  std::snprintf(text, sizeof text, per_second < 10 ? "%.2g per second" : "%.0f per second",
                per_second);
  return text;
}

std::string time_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole / 60 % 60) + " min";
}

void write_all(int file, const std::string& text) {
  // Write errors are ignored, because a missing progress line must not stop the work.
  [[maybe_unused]] const ssize_t written = ::write(file, text.data(), text.size());
}

}  // namespace

std::string progress_text(const ProgressOptions& options, std::int64_t done, double elapsed,
                          const std::string& note) {
  std::string text = options.what + ": " + std::to_string(done);
  if (options.total) text += " of " + std::to_string(*options.total);
  const double rate = elapsed > 0 ? static_cast<double>(done) / elapsed : 0;
  if (done > 0) text += ", " + rate_text(rate);
  std::optional<double> left;
  if (options.total && rate > 0)
    left = std::max(0.0, static_cast<double>(*options.total - done) / rate);
  if (options.most_seconds) {
    const double until_end = std::max(0.0, *options.most_seconds - elapsed);
    left = left ? std::min(*left, until_end) : until_end;
  }
  if (left) text += ", " + time_text(*left) + " left";
  if (!note.empty()) text += ", " + note;
  return text;
}

Progress::Progress(ProgressOptions options)
    : options_(std::move(options)), is_terminal_(::isatty(options_.file) != 0) {
  if (!options_.clock) options_.clock = steady_seconds;
  start_ = options_.clock();
}

Progress::~Progress() { hide(); }

void Progress::set(std::int64_t done, const std::string& note) {
  done_ = done;
  if (!is_terminal_) return;
  const double elapsed = options_.clock() - start_;
  if (elapsed < kAppearsAfter || elapsed < drawn_at_ + kBetween) return;
  drawn_at_ = elapsed;
  std::string text = progress_text(options_, done_, elapsed, note);
  // Cuts the line to the terminal's width, because a line that wraps cannot be redrawn.
  winsize size = {};
  const bool is_known = ::ioctl(options_.file, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  text.resize(std::min<std::size_t>(text.size(), is_known ? size.ws_col - 1u : 79u));
  write_all(options_.file, "\r\x1b[K" + text);
  is_drawn_ = true;
}

void Progress::hide() {
  if (is_drawn_) write_all(options_.file, "\r\x1b[K");
  is_drawn_ = false;
}

}  // namespace tenon
