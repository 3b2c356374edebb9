#include "runtime/parallel/thread_counts.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "tenon/runtime/threads.h"

namespace tenon::runtime {

int parse_num_threads(std::string_view text) {
  int n = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 1 || n > kMaxThreads)
    throw RuntimeError("TENON_NUM_THREADS: expected a number of threads, 1 to " +
                       std::to_string(kMaxThreads) + ", got `" + std::string(text) + "`");
  return n;
}

std::optional<int> processors_of_quota(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::int64_t quota = 0;
  auto [after_quota, quota_error] = std::from_chars(text.data(), end, quota);
  if (quota_error != std::errc{} || quota <= 0 || after_quota == end) return std::nullopt;
  std::int64_t period = 0;
  auto [after_period, period_error] = std::from_chars(after_quota + 1, end, period);
  if (period_error != std::errc{} || period <= 0) return std::nullopt;
  return static_cast<int>(std::min<std::int64_t>((quota - 1) / period + 1, kMaxThreads));
}

}  // namespace tenon::runtime
