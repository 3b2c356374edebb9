// Run-time profiler: receives the events of code built with `profile`. The driver makes a profiler
// and assigns the meaning of its regions; users see tenon/driver/profile.h.
//
//   auto profiler = std::make_shared<Profiler>(2);      // regions 0 and 1
//   int64_t depth = tenon_profile_begin_call(profiler.get(), 0);
//   tenon_profile_enter(1);                              // from here on, time counts for region 1
//   tenon_profile_leave(1);
//   tenon_profile_end_call(profiler.get(), depth);
//   profiler->threads()[0].regions[1].calls              // 1
//
// A thread's time counts for the innermost region that it is in. In a parallel loop, every
// participating thread is in the region that started the loop.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "tenon/runtime/c_api.h"

namespace tenon::runtime {

/// A reading of the fastest available clock: cycles of a constant-rate counter, or nanoseconds.
using Ticks = std::uint64_t;

class Profiler {
 public:
  struct Thread;
  struct Region {
    /// Number of times that this thread entered the region, excluding parts of parallel loops.
    std::int64_t calls = 0;
    /// Number of parts of the region's parallel loops that this thread ran.
    std::int64_t parts = 0;
    /// Time in the region itself, without nested regions and waiting.
    Ticks work = 0;
    /// Time from entering to leaving, including nested regions and waiting.
    Ticks elapsed = 0;
    /// Time that this thread was idle in parallel loops and barriers.
    Ticks waiting = 0;
  };
  /// An uninterrupted interval that a thread spent in a region.
  struct Event {
    std::int32_t region;
    /// Whether the interval is a part of a parallel loop.
    bool is_part;
    Ticks begin, end;
  };
  /// An entry of a thread's stack of intervals: a call, a stage, a part of a parallel loop, or
  /// waiting.
  struct Frame {
    /// The kind of interval.
    enum class Kind : std::uint8_t { Call, Stage, Part, Wait };
    Kind kind;
    std::int32_t region;
    Ticks begin;
    /// Time since `begin` that nested frames took.
    Ticks inside = 0;
    /// Only for Kind::Call. `stack`: an address in the stack frame that began the call, by which
    /// ended calls are recognized. `outer`: the thread's current record before the call.
    const void* stack = nullptr;
    Thread* outer = nullptr;
  };
  /// The measurements of one thread.
  struct Thread {
    Profiler* owner;
    std::vector<Region> regions;
    /// At most kMaxEvents; further events are only counted.
    std::vector<Event> events;
    std::int64_t dropped_events = 0;
    std::vector<Frame> frames;
  };
  static constexpr std::size_t kMaxEvents = std::size_t{1} << 17;

  explicit Profiler(std::size_t regions);
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  virtual ~Profiler();

  /// Returns the threads that ran something, in order of first use. Precondition of this and the
  /// following functions: no function of the module is running.
  const std::vector<std::unique_ptr<Thread>>& threads() const { return threads_; }
  std::uint64_t peak_workspace() const { return peak_workspace_; }
  /// Returns the duration of a tick, calibrated since construction.
  double seconds_per_tick() const;
  /// Resets all measurements to 0.
  void reset();

  /// Returns the record of the calling thread. This function and those below are for the profiler's
  /// entry points.
  Thread& this_thread();
  /// Returns a record for a short-lived thread, which must give it back.
  Thread& borrow();
  void give_back(Thread& thread);
  void allocated(const void* memory, std::uint64_t bytes);
  void released(const void* memory);

 private:
  Thread& add_thread();

  const std::uint64_t id_;
  const std::size_t regions_;
  const Ticks first_tick_;
  const std::chrono::steady_clock::time_point first_time_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Thread>> threads_;
  /// The id of the thread that owns each record in `threads_`; a default id for records that can be
  /// borrowed.
  std::vector<std::thread::id> thread_ids_;
  std::vector<Thread*> free_;
  std::unordered_map<const void*, std::uint64_t> workspaces_;
  std::uint64_t workspace_ = 0, peak_workspace_ = 0;
};

}  // namespace tenon::runtime

// Entry points for profiled code. tenon_profile_x replaces tenon_x of c_api.h, if that exists: it
// does the same work and also measures it.
extern "C" {
/// Starts a call. Returns the value to pass to tenon_profile_end_call.
std::int64_t tenon_profile_begin_call(void* profiler, std::int32_t region);
void tenon_profile_end_call(void* profiler, std::int64_t depth);
/// Enters a region. Precondition of this and the following functions: inside a call.
std::int32_t tenon_profile_enter(std::int32_t region);
/// Leaves a region. When an error leaves a region, this call may be omitted.
std::int32_t tenon_profile_leave(std::int32_t region);
std::int32_t tenon_profile_parallel_for(TenonLoopBody body, void* closure, std::int64_t begin,
                                        std::int64_t end);
std::int32_t tenon_profile_parallel_launch(TenonTaskBody body, void* closure,
                                           std::int32_t num_tasks);
std::int32_t tenon_profile_parallel_barrier(void);
void* tenon_profile_workspace_alloc(std::int32_t device_type, std::int32_t device_id,
                                    std::uint64_t nbytes, std::int32_t alignment);
std::int32_t tenon_profile_workspace_free(std::int32_t device_type, std::int32_t device_id,
                                          void* data);
}
