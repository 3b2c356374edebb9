// Times of a module's stages while it runs: what code that was built with `profile` reports to. The
// driver makes one and says what its regions mean; users see tenon/driver/profile.h.
//
//   auto profiler = std::make_shared<Profiler>(2);      // regions 0 and 1
//   int64_t depth = tenon_profile_begin_call(profiler.get(), 0);
//   tenon_profile_enter(1);                              // from here on the time is that of region 1
//   tenon_profile_leave(1);
//   tenon_profile_end_call(profiler.get(), depth);
//   profiler->threads()[0].regions[1].calls              // 1
//
// A thread's time belongs to the innermost region that it is in. Inside a parallel loop every
// thread that takes part is in the region that started the loop.
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

/// A reading of the fastest clock there is: cycles of a constant counter, or nanoseconds.
using Ticks = std::uint64_t;

class Profiler {
 public:
  struct Thread;
  struct Region {
    /// How often it was entered; parts of parallel loops do not count.
    std::int64_t calls = 0;
    /// Parts of its parallel loops that this thread ran.
    std::int64_t parts = 0;
    /// In the region itself: without regions inside and without waiting.
    Ticks work = 0;
    /// From entering to leaving, all included.
    Ticks elapsed = 0;
    /// In parallel loops and barriers, while this thread had nothing to do.
    Ticks waiting = 0;
  };
  /// Time that a thread spent in a region without interruption by its end.
  struct Event {
    std::int32_t region;
    /// Whether it is a part of a parallel loop.
    bool is_part;
    Ticks begin, end;
  };
  /// What a thread is in: a call, a stage, a part of a parallel loop, or waiting.
  struct Frame {
    /// What kind of interval it is.
    enum class Kind : std::uint8_t { Call, Stage, Part, Wait };
    Kind kind;
    std::int32_t region;
    Ticks begin;
    /// Of the time since then, what frames inside took.
    Ticks inside;
    /// Of a call: where its caller's stack ends, and which thread's record was in use before.
    const void* stack;
    Thread* outer;
  };
  /// What one thread has measured.
  struct Thread {
    Profiler* owner;
    std::vector<Region> regions;
    /// Up to kMaxEvents of them; the others are counted.
    std::vector<Event> events;
    std::int64_t dropped_events = 0;
    std::vector<Frame> frames;
  };
  static constexpr std::size_t kMaxEvents = std::size_t{1} << 17;

  explicit Profiler(std::size_t regions);
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  virtual ~Profiler();

  /// Those that ran something, in the order in which they first did. Precondition of this and of
  /// what follows: no function of the module is running.
  const std::vector<std::unique_ptr<Thread>>& threads() const { return threads_; }
  std::uint64_t peak_workspace() const { return peak_workspace_; }
  /// How long a tick lasts, measured since this was made.
  double seconds_per_tick() const;
  /// Counts begin at 0 again.
  void reset();

  /// For the functions below.
  Thread& this_thread();
  /// A record for a thread that lives only as long as it keeps it.
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
  /// Of the thread of the same place; none for those to borrow.
  std::vector<std::thread::id> thread_ids_;
  std::vector<Thread*> free_;
  std::unordered_map<const void*, std::uint64_t> workspaces_;
  std::uint64_t workspace_ = 0, peak_workspace_ = 0;
};

}  // namespace tenon::runtime

// What profiled code calls. Those named like functions of c_api.h do the same as they.
extern "C" {
/// Returns what the end of the call is to be given.
std::int64_t tenon_profile_begin_call(void* profiler, std::int32_t region);
void tenon_profile_end_call(void* profiler, std::int64_t depth);
/// Precondition of all that follow: inside a call.
std::int32_t tenon_profile_enter(std::int32_t region);
/// A region that was left with an error need not be left again.
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
