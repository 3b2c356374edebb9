// Spinning TBB threads: after a loop, workers wait actively for a moment in case another loop
// follows. A worker that has returned to TBB finds new work after about 2 us, a spinning one after
// about 0.2 us. A spinning thread executes nothing else, and leaves when dismissed.
//
//   if (!standby.run(3, work)) ...    // work(0) here, work(1) .. on some others, or not at all
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <chrono>
#include <cstdint>

#include "tenon/support/function_ref.h"

namespace tenon::runtime {

class Standby {
 public:
  /// `threads` is the number of threads of the arena, including the caller's. They spin for `stay`
  /// after a loop. `stay` is 0 if there are fewer processors than threads.
  Standby(tbb::task_arena& arena, int threads, std::chrono::microseconds stay);
  /// Waits until all threads have returned to TBB.
  ~Standby();
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;

  /// Calls work(0) on this thread and, concurrently, work(1), work(2), ... on up to `others`
  /// threads that arrive before it has returned here. Returns after all have finished. Returns
  /// false immediately if another thread's call is running. `work` must not throw, and must be
  /// correct if it is called only once, or twice by one thread.
  bool run(std::int64_t others, FunctionRef<void(int)> work);

  /// Returns the spinning threads to TBB, which has other work for them.
  void dismiss() { dismissals_.fetch_add(1, std::memory_order_relaxed); }

 private:
  /// Requests `count` threads from TBB, as a binary tree: each thread that arrives requests up to
  /// two others, which do the same.
  void summon(int count) noexcept;
  /// The loop of a thread that has arrived.
  void stand_by();
  /// Joins the current run and does its work, unless the run's number is `last`, the run that this
  /// thread finished before. Returns whether it joined.
  bool join(std::uint32_t& last);

  tbb::task_arena& arena_;
  const int threads_;
  const std::chrono::microseconds stay_;
  std::atomic_flag is_taken_;
  FunctionRef<void(int)>* work_ = nullptr;
  /// Number of threads that were requested and have not returned.
  std::atomic<int> present_ = 0;
  std::atomic<std::uint32_t> dismissals_ = 0;
  /// The number of the current run, a bit that is set while threads may join it, and the number of
  /// threads that have joined.
  std::atomic<std::uint64_t> gate_ = 0;
  /// Number of joined threads that have finished.
  std::atomic<std::uint64_t> finished_ = 0;
};

}  // namespace tenon::runtime
