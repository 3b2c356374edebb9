// Threads of TBB that stay for a moment after a loop, in case another one follows. A worker that
// has gone back to TBB finds new work after some two microseconds; one that stands by, after a
// fifth of one. For that moment it does nothing else, and makes room as soon as it is told to.
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
  /// The arena has so many threads, the caller's among them. They stay for so long after a loop:
  /// not at all where there is no processor for each.
  Standby(tbb::task_arena& arena, int threads, std::chrono::microseconds stay);
  /// Waits until all have gone back.
  ~Standby();
  Standby(const Standby&) = delete;
  Standby& operator=(const Standby&) = delete;

  /// Calls work(0) on this thread and, at the same time, work(1), work(2), ... on threads that come
  /// before it has returned here, for which there is something to do for `others`; returns after
  /// all have. False, at once, if another thread's call is under way. `work` does not throw, and is
  /// fine with being called once, or by one thread twice.
  bool run(std::int64_t others, FunctionRef<void(int)> work);

  /// Sends the threads that stand by back to TBB, which has work for them.
  void dismiss() { dismissals_.fetch_add(1, std::memory_order_relaxed); }

 private:
  /// Asks TBB for so many threads; those that come ask for the rest.
  void summon(int count) noexcept;
  /// What a thread does that has come.
  void stand_by();
  /// Works if there is something to do that is not the `last` that was done.
  bool join(std::uint32_t& last);

  tbb::task_arena& arena_;
  const int threads_;
  const std::chrono::microseconds stay_;
  std::atomic_flag is_taken_;
  FunctionRef<void(int)>* work_ = nullptr;
  /// Who has been asked for and has not gone back.
  std::atomic<int> present_ = 0;
  std::atomic<std::uint32_t> dismissals_ = 0;
  /// The number of the run, whether threads may join it, and how many have.
  std::atomic<std::uint64_t> gate_ = 0;
  /// How many of them have finished.
  std::atomic<std::uint64_t> finished_ = 0;
};

}  // namespace tenon::runtime
