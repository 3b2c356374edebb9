#include "runtime/parallel/parallel.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "runtime/core/last_error.h"
#include "runtime/core/text.h"
#include "tenon/runtime/threads.h"

namespace tenon::runtime {

// ---- numbers of threads -------------------------------------------------------------------------

int parse_num_threads(std::string_view text) {
  const std::optional<int> n = parse_number<int>(text);
  if (!n || *n < 1 || *n > kMaxThreads)
    throw RuntimeError("TENON_NUM_THREADS: expected a number of threads, 1 to " +
                       std::to_string(kMaxThreads) + ", got `" + std::string(text) + "`");
  return *n;
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

// ---- crews --------------------------------------------------------------------------------------

namespace {

std::string contents(const char* path) {
  std::ifstream file(path);
  std::string text;
  std::getline(file, text);
  return text;
}

int processors_of_this_process() {
  int processors =
      tbb::info::default_concurrency();  // respects the affinity mask, and thus the cpuset
  std::string quota = contents("/sys/fs/cgroup/cpu.max");
  if (quota.empty()) {
    quota = contents("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") + " " +
            contents("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  }
  return std::min(processors, processors_of_quota(quota).value_or(processors));
}

/// The process's setting. Created at the first use, which reads the environment.
class Setting {
 public:
  static Setting& instance() {
    // Never destroyed: worker threads may outlive the end of main.
    static Setting& setting = *new Setting;
    return setting;
  }

  Crew& crew() {
    // TBB's workers do not exist in a child process, and a loop would wait for them forever. The
    // child therefore uses one thread.
    return in_child.load(std::memory_order_relaxed) ? alone_
                                                    : *crew_.load(std::memory_order_acquire);
  }

  void set(int n) {
    if (in_child) return;
    const std::lock_guard lock(mutex_);
    crew_.store(&crew_of(n == 0 ? default_ : n), std::memory_order_release);
  }

 private:
  Setting() : default_(default_num_threads()), crew_(&crew_of(default_)) {
    pthread_atfork(nullptr, nullptr, [] { in_child = true; });
  }

  int default_num_threads() const {
    const char* variable = std::getenv("TENON_NUM_THREADS");
    return variable != nullptr && *variable != 0 ? parse_num_threads(variable) : processors_;
  }

  Crew& crew_of(int threads) {
    allow(threads);
    return crews_.try_emplace(threads, threads, threads <= processors_).first->second;
  }

  /// Lets TBB start at least this number of threads. By default, it starts no more than there are
  /// processors. TBB applies the minimum of all existing controls, so the new control replaces the
  /// old one.
  void allow(int threads) {
    if (threads <= allowed_) return;
    more_threads_.reset();
    more_threads_.emplace(tbb::global_control::max_allowed_parallelism,
                          static_cast<std::size_t>(threads));
    allowed_ = threads;
  }

  static inline std::atomic<bool> in_child = false;

  const int processors_ = processors_of_this_process();
  const int default_;
  std::mutex mutex_;
  Crew alone_ = Crew(1, true);
  std::map<int, Crew> crews_;
  int allowed_ = tbb::info::default_concurrency();
  std::optional<tbb::global_control> more_threads_;
  std::atomic<Crew*> crew_;
};

}  // namespace

Crew::Crew(int threads, bool has_processors) : threads_(threads) {
  if (threads == 1) return;
  arena_.emplace(threads);
  // The time that threads spin after a loop: longer than a typical program takes between two calls.
  constexpr std::chrono::microseconds kStay(50);
  standby_.emplace(*arena_, threads, has_processors ? kStay : kStay.zero());
}

Crew& current_crew() { return Setting::instance().crew(); }

void set_num_threads(int n, SourceLocation where) {
  if (n < 0 || n > kMaxThreads)
    throw RuntimeError("set_num_threads: expected 1 to " + std::to_string(kMaxThreads) +
                           " threads, or 0 for the default, got " + std::to_string(n),
                       where);
  Setting::instance().set(n);
}

int num_threads() { return current_crew().threads(); }

}  // namespace tenon::runtime

int32_t tenon_set_num_threads(int32_t n) {
  return tenon::runtime::without_exceptions([&] { tenon::runtime::set_num_threads(n); });
}

int32_t tenon_num_threads(int32_t* result) {
  return tenon::runtime::without_exceptions([&]() -> std::int32_t {
    if (result == nullptr)
      return tenon::runtime::fail(kTenonInvalidArgument, "tenon_num_threads: result is NULL");
    *result = tenon::runtime::num_threads();
    return kTenonOk;
  });
}
