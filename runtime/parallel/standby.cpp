#include "runtime/parallel/standby.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tenon::runtime {

namespace {

using Clock = std::chrono::steady_clock;

/// Number of checks for new work between two readings of the clock.
constexpr int kLooks = 64;

// The gate: 32 bits for the run's number, one bit that is set while threads may join, and 31 bits
// for the number of threads that have joined.
constexpr std::uint64_t kOpen = std::uint64_t{1} << 31, kCount = kOpen - 1;
std::uint32_t run_of(std::uint64_t gate) { return static_cast<std::uint32_t>(gate >> 32); }

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

Standby::Standby(tbb::task_arena& arena, int threads, std::chrono::microseconds stay)
    : arena_(arena), threads_(threads), stay_(stay) {}

Standby::~Standby() {
  dismiss();
  while (present_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
}

bool Standby::run(std::int64_t others, FunctionRef<void(int)> work) {
  if (is_taken_.test_and_set(std::memory_order_acquire)) return false;
  work_ = &work;
  finished_.store(0, std::memory_order_relaxed);
  const std::uint64_t next = run_of(gate_.load(std::memory_order_relaxed)) + std::uint64_t{1};
  gate_.store(next << 32 | kOpen, std::memory_order_release);
  const auto wanted = static_cast<int>(std::min<std::int64_t>(others, threads_ - 1));
  const int missing = wanted - present_.load(std::memory_order_relaxed);
  if (missing > 0) {
    present_.fetch_add(missing, std::memory_order_relaxed);
    summon(missing);
  }
  work(0);
  const std::uint64_t joined = gate_.fetch_and(~kOpen, std::memory_order_relaxed) & kCount;
  for (int looks = 0; finished_.load(std::memory_order_acquire) != joined; ++looks) {
    if (looks % kLooks == kLooks - 1)
      std::this_thread::yield();  // with few processors, lets a working thread run
    else
      pause();
  }
  is_taken_.clear(std::memory_order_release);
  return true;
}

void Standby::summon(int count) noexcept {
  if (count == 0) return;
  try {
    arena_.enqueue([this, count] {
      const int rest = count - 1;
      summon(rest / 2);
      summon(rest - rest / 2);
      stand_by();
    });
  } catch (...) {
    // Enqueueing failed for lack of memory. The other threads do the work.
    present_.fetch_sub(count, std::memory_order_relaxed);
  }
}

bool Standby::join(std::uint32_t& last) {
  std::uint64_t gate = gate_.load(std::memory_order_acquire);
  if ((gate & kOpen) == 0 || run_of(gate) == last) return false;
  if (!gate_.compare_exchange_strong(gate, gate + 1, std::memory_order_acq_rel)) return false;
  last = run_of(gate);
  (*work_)(static_cast<int>(gate & kCount) + 1);
  finished_.fetch_add(1, std::memory_order_release);
  return true;
}

void Standby::stand_by() {
  const std::uint32_t dismissals = dismissals_.load(std::memory_order_relaxed);
  // The number of the last finished run. Numbers of runs start at 1.
  std::uint32_t last = 0;
  Clock::time_point end = Clock::now() + stay_;
  for (int looks = 1;; ++looks) {
    if (join(last)) {
      end = Clock::now() + stay_;
      continue;
    }
    if (dismissals_.load(std::memory_order_relaxed) != dismissals) break;
    if (looks % kLooks == 0 && Clock::now() > end) break;
    pause();
  }
  present_.fetch_sub(1, std::memory_order_release);
}

}  // namespace tenon::runtime
