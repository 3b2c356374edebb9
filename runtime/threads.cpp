#include "tenon/runtime/threads.h"

#include <oneapi/tbb/info.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>

#include "runtime/crew.h"
#include "runtime/last_error.h"

namespace tenon::runtime {

namespace {

std::string contents(const char* path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return text;
}

int processors_of_this_process() {
  int processors =
      tbb::info::default_concurrency();  // respects the affinity mask, and so the cpuset
  std::string quota = contents("/sys/fs/cgroup/cpu.max");
  if (quota.empty()) {
    quota = contents("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") + " " +
            contents("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  }
  return std::min(processors, processors_of_quota(quota).value_or(processors));
}

/// The process's setting. Made at the first use, which is when the environment is read.
class Setting {
 public:
  static Setting& instance() {
    // Never destroyed: worker threads may outlive the end of main.
    static Setting& setting = *new Setting;
    return setting;
  }

  std::shared_ptr<Crew> crew() {
    // TBB's workers do not live on in a child process, and a loop would wait for them for ever.
    if (in_child_) return std::make_shared<Crew>(1);
    std::lock_guard lock(mutex_);
    return crew_;
  }

  void set(int n) {
    if (in_child_) return;
    std::lock_guard lock(mutex_);
    const int threads = n == 0 ? default_ : n;
    if (crew_->threads() != threads) crew_ = std::make_shared<Crew>(threads);
  }

 private:
  Setting() : default_(default_num_threads()), crew_(std::make_shared<Crew>(default_)) {
    pthread_atfork(nullptr, nullptr, [] { in_child_ = true; });
  }

  static int default_num_threads() {
    const char* variable = std::getenv("TENON_NUM_THREADS");
    return variable != nullptr && *variable != 0 ? parse_num_threads(variable)
                                                 : processors_of_this_process();
  }

  static inline std::atomic<bool> in_child_ = false;

  const int default_;
  std::mutex mutex_;
  std::shared_ptr<Crew> crew_;
};

}  // namespace

Crew::Crew(int threads) : threads_(threads) {
  if (threads > tbb::info::default_concurrency()) {
    more_threads_than_processors_.emplace(tbb::global_control::max_allowed_parallelism,
                                          static_cast<std::size_t>(threads));
  }
  if (threads > 1) arena_.emplace(threads);
}

std::shared_ptr<Crew> current_crew() { return Setting::instance().crew(); }

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

void set_num_threads(int n, SourceLocation where) {
  if (n < 0 || n > kMaxThreads)
    throw RuntimeError("set_num_threads: expected 1 to " + std::to_string(kMaxThreads) +
                           " threads, or 0 for the default, got " + std::to_string(n),
                       where);
  Setting::instance().set(n);
}

int num_threads() { return current_crew()->threads(); }

}  // namespace tenon::runtime

int32_t tenon_set_num_threads(int32_t n) {
  return tenon::runtime::without_exceptions([&] {
    tenon::runtime::set_num_threads(n);
    return kTenonOk;
  });
}

int32_t tenon_num_threads(int32_t* result) {
  return tenon::runtime::without_exceptions([&] {
    *result = tenon::runtime::num_threads();
    return kTenonOk;
  });
}
