// Parallel loops on TBB, with these additions:
// - An error of a body reaches the caller.
// - A nested loop runs inline while the loops around it occupy all threads.
// - A thread that waits for its loop executes no unrelated tasks, which bounds the stack by the
//   static nesting.
// - An outermost loop is distributed over spinning threads (standby.h).
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_group.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "runtime/core/last_error.h"
#include "runtime/parallel/parallel.h"

namespace tenon::runtime {

namespace {

struct Loop {
  TenonLoopBody body;
  void* closure;
  Crew& crew;
  const Loop* parent;
  /// Iterations in sub-ranges that no thread has started.
  std::atomic<std::int64_t> waiting;
  std::atomic<bool> has_failed = false;
  std::mutex mutex = {};
  /// The reported failure, guarded by `mutex`: its status, the begin of its sub-range, its message.
  std::int32_t status = kTenonOk;
  std::int64_t failed_at = 0;
  std::string message = {};
};

/// Records the failure of a sub-range. If several sub-ranges fail, the first one in loop order is
/// reported, but an error takes precedence over a cancellation. Which sub-ranges run before the
/// loop stops depends on timing.
void record_failure(Loop& loop, std::int64_t begin, std::int32_t status, const char* message) {
  const std::lock_guard lock(loop.mutex);
  if (loop.status != kTenonOk) {
    const bool was_cancelled = loop.status == kTenonCancelled;
    const bool is_cancelled = status == kTenonCancelled;
    if (was_cancelled == is_cancelled ? begin >= loop.failed_at : is_cancelled) return;
  }
  loop.status = status;
  loop.failed_at = begin;
  loop.message = message;
}

/// Whether a loop around this one has failed.
bool is_cancelled(const Loop& loop) {
  for (const Loop* around = loop.parent; around != nullptr; around = around->parent)
    if (around->has_failed.load(std::memory_order_relaxed)) return true;
  return false;
}

/// The innermost loop whose body this thread is executing.
thread_local const Loop* current_loop = nullptr;

std::int32_t run_body(TenonLoopBody body, void* closure, std::int64_t begin, std::int64_t end) {
  tenon_set_last_error(nullptr);
  const std::int32_t status = without_exceptions([&] { return body(closure, begin, end); });
  if (status == kTenonOk || *tenon_last_error() != 0) return status;
  return without_exceptions([&] {
    return fail(status, "the body of a parallel loop returned status " + std::to_string(status) +
                            " and left no message");
  });
}

/// Runs a sub-range. Returns whether it succeeded, so that the loop continues.
bool run_sub_range(Loop& loop, std::int64_t begin, std::int64_t end) {
  loop.waiting.fetch_sub(end - begin, std::memory_order_relaxed);
  const Loop* const outer = std::exchange(current_loop, &loop);
  const std::int32_t status = run_body(loop.body, loop.closure, begin, end);
  current_loop = outer;
  if (status == kTenonOk) return true;
  record_failure(loop, begin, status, tenon_last_error());
  loop.has_failed.store(true, std::memory_order_relaxed);
  return false;
}

/// Whether a loop around the new one has enough unstarted iterations to occupy all threads. The new
/// loop would then find no idle thread.
bool saturated(const Loop* innermost) {
  for (const Loop* loop = innermost; loop != nullptr; loop = loop->parent)
    if (loop->waiting.load(std::memory_order_relaxed) >= loop->crew.threads()) return true;
  return false;
}

std::int32_t result_of(const Loop& loop) {
  return loop.status == kTenonOk ? kTenonOk : fail(loop.status, loop.message);
}

std::int32_t run_in_arena(Loop& loop, std::int64_t begin, std::int64_t end) {
  const tbb::blocked_range<std::int64_t> range(begin, end);
  tbb::task_group_context context;
  auto sub_range = [&](const tbb::blocked_range<std::int64_t>& r) {
    if (is_cancelled(loop) || !run_sub_range(loop, r.begin(), r.end()))
      context.cancel_group_execution();
  };
  loop.crew.standby().dismiss();
  loop.crew.arena().execute([&] {
    // Isolated: while it waits here, this thread only executes tasks of this loop and of loops
    // inside it.
    tbb::this_task_arena::isolate(
        [&] { tbb::parallel_for(range, sub_range, tbb::auto_partitioner(), context); });
  });
  if (loop.status == kTenonOk && context.is_group_execution_cancelled())
    return fail(kTenonCancelled, "a parallel loop stopped because a loop around it failed");
  return result_of(loop);
}

/// The remaining iterations of a loop, in one part per thread. A thread processes its own part in
/// order, so that adjacent iterations run on one thread. It then takes pieces of the next parts.
class Pieces {
 public:
  Pieces(std::int64_t begin, std::int64_t end, int threads)
      : parts_(static_cast<int>(
            std::min<std::int64_t>({threads, static_cast<int>(kMax), end - begin}))) {
    const std::int64_t length = (end - begin) / parts_, longer = (end - begin) % parts_;
    for (int n = 0; n < parts_; ++n) {
      part_[n].next.store(begin, std::memory_order_relaxed);
      part_[n].end = begin += length + (n < longer ? 1 : 0);
    }
  }

  /// Calls f(begin, end) with remaining pieces for thread number `thread`, until no piece remains
  /// or f returns false.
  template <class F>
  void for_each(int thread, const F& f) {
    for (int n = 0; n < parts_; ++n)
      if (!finish(part_[(thread + n) % parts_], f)) return;
  }

 private:
  struct alignas(64) Part {
    std::atomic<std::int64_t> next;
    std::int64_t end;
  };

  /// The size of pieces decreases, so that threads that share a part finish at about the same time
  /// (Polychronopoulos and Kuck, "Guided Self-Scheduling", 1987).
  template <class F>
  static bool finish(Part& part, const F& f) {
    constexpr std::int64_t kShare = 4;
    std::int64_t begin = part.next.load(std::memory_order_relaxed);
    while (begin < part.end) {
      const std::int64_t end = begin + std::max<std::int64_t>((part.end - begin) / kShare, 1);
      if (!part.next.compare_exchange_weak(begin, end, std::memory_order_relaxed)) continue;
      if (!f(begin, end)) return false;
      begin = part.next.load(std::memory_order_relaxed);
    }
    return true;
  }

  /// Maximum number of parts; more threads share parts.
  static constexpr std::size_t kMax = 64;
  const int parts_;
  std::array<Part, kMax> part_;
};

/// Runs the loop on spinning threads. Nullopt if these threads are executing another loop.
std::optional<std::int32_t> run_with_standby(Loop& loop, std::int64_t begin, std::int64_t end) {
  Pieces pieces(begin, end, loop.crew.threads());
  auto work = [&](int thread) {
    pieces.for_each(thread, [&](std::int64_t first, std::int64_t last) {
      return !loop.has_failed.load(std::memory_order_relaxed) && run_sub_range(loop, first, last);
    });
  };
  if (!loop.crew.standby().run(end - begin - 1, work)) return std::nullopt;
  return result_of(loop);
}

std::int32_t parallel_for(TenonLoopBody body, void* closure, std::int64_t begin, std::int64_t end) {
  if (body == nullptr) return fail(kTenonInvalidArgument, "tenon_parallel_for: body is NULL");
  if (begin >= end) return kTenonOk;
  std::int64_t extent = 0;
  if (__builtin_sub_overflow(end, begin, &extent))
    return fail(kTenonInvalidArgument, "a parallel loop of more than 2^63 - 1 iterations");
  const Loop* parent = current_loop;
  if (extent == 1 || in_parallel_region() || saturated(parent))
    return run_body(body, closure, begin, end);
  Crew& crew = parent != nullptr ? parent->crew : current_crew();
  if (crew.threads() == 1) return run_body(body, closure, begin, end);
  Loop loop{.body = body, .closure = closure, .crew = crew, .parent = parent, .waiting = extent};
  if (parent == nullptr)
    if (const auto status = run_with_standby(loop, begin, end)) return *status;
  return run_in_arena(loop, begin, end);
}

}  // namespace

bool in_parallel_loop() { return current_loop != nullptr; }

}  // namespace tenon::runtime

int32_t tenon_parallel_for(TenonLoopBody body, void* closure, int64_t begin, int64_t end) {
  return tenon::runtime::without_exceptions(
      [&] { return tenon::runtime::parallel_for(body, closure, begin, end); });
}
