#include "tenon/runtime/profiler.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace tenon::runtime {

namespace {

using Frame = Profiler::Frame;
using Thread = Profiler::Thread;
using Clock = std::chrono::steady_clock;

/// Whether the processor has a cycle counter of constant rate.
bool has_constant_counter() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kInvariant = 1u << 8;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & kInvariant) != 0;
#else
  return false;
#endif
}

const bool kCountsCycles = has_constant_counter();

Ticks now() {
#if defined(__x86_64__)
  if (kCountsCycles) return __rdtsc();
#endif
  return static_cast<Ticks>(Clock::now().time_since_epoch().count());
}

/// The record to which this thread's time counts; null outside profiled calls.
thread_local Thread* current = nullptr;

/// Returns the elapsed ticks; 0 if `end` is before `begin`, because the counters of two processors
/// may differ slightly.
Ticks between(Ticks begin, Ticks end) { return end > begin ? end - begin : 0; }

void push(Thread& thread, Frame::Kind kind, std::int32_t region) {
  thread.frames.push_back({.kind = kind, .region = region, .begin = now()});
}

/// Ends the innermost frame.
void pop(Thread& thread) {
  const Ticks end = now();
  const Frame frame = thread.frames.back();
  thread.frames.pop_back();
  const Ticks elapsed = between(frame.begin, end);
  if (!thread.frames.empty()) thread.frames.back().inside += elapsed;
  Profiler::Region& region = thread.regions[static_cast<std::size_t>(frame.region)];
  const Ticks own = between(frame.inside, elapsed);
  if (frame.kind == Frame::Kind::Wait) {
    region.waiting += own;
    return;
  }
  const bool is_part = frame.kind == Frame::Kind::Part;
  region.work += own;
  if (!is_part) region.elapsed += elapsed;
  ++(is_part ? region.parts : region.calls);
  if (thread.events.size() < Profiler::kMaxEvents)
    thread.events.push_back(
        {.region = frame.region, .is_part = is_part, .begin = frame.begin, .end = end});
  else
    ++thread.dropped_events;
}

/// Drops frames that were left by an error or an exception.
void drop_to(Thread& thread, std::size_t depth) {
  if (thread.frames.size() > depth) thread.frames.resize(depth);
}

/// Drops calls that were left by an exception, and the frames inside them. Stacks grow downwards: a
/// call whose stack frame is below that of the call that starts now has ended.
void drop_ended_calls(Thread& thread, const void* stack) {
  for (std::size_t n = 0; n < thread.frames.size(); ++n) {
    const Frame& frame = thread.frames[n];
    if (frame.kind == Frame::Kind::Call && frame.stack <= stack) return drop_to(thread, n);
  }
}

/// An interval of the calling thread: a part of a parallel loop, a task of a region, or waiting.
/// Until it ends, the thread's time counts to the record `mine`.
class Interval {
 public:
  Interval(Thread& mine, Frame::Kind kind, std::int32_t region)
      : outer_(current), mine_(mine), depth_(mine.frames.size()) {
    current = &mine_;
    push(mine_, kind, region);
  }
  ~Interval() {
    drop_to(mine_, depth_ + 1);
    pop(mine_);
    current = outer_;
  }
  Interval(const Interval&) = delete;
  Interval& operator=(const Interval&) = delete;

 private:
  Thread* outer_;
  Thread& mine_;
  std::size_t depth_;
};

/// Returns the region that this thread is in. Precondition: inside a profiled call.
std::int32_t current_region() { return current->frames.back().region; }

/// Counts this thread's time as waiting, except while the thread runs parts of the loop itself.
Interval waiting() { return {*current, Frame::Kind::Wait, current_region()}; }

/// The body of a parallel loop or region whose closure is the callable.
template <class Callable, class... Args>
std::int32_t call_closure(void* closure, Args... args) {
  return (*static_cast<Callable*>(closure))(args...);
}

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

Profiler::Profiler(std::size_t regions)
    : id_(next_id()), regions_(regions), first_tick_(now()), first_time_(Clock::now()) {}

Profiler::~Profiler() = default;

Thread& Profiler::this_thread() {
  // The last profilers that this thread used, with its records. They are identified by number,
  // since a new profiler may have the address of an old one.
  thread_local std::array<std::pair<std::uint64_t, Thread*>, 4> known;
  thread_local std::size_t oldest = 0;
  for (const auto& [profiler, record] : known)
    if (profiler == id_) return *record;
  thread_local const std::thread::id me = std::this_thread::get_id();
  const std::lock_guard lock(mutex_);
  auto mine = std::ranges::find(thread_ids_, me);
  if (mine == thread_ids_.end()) {
    add_thread();
    thread_ids_.back() = me;
    mine = std::prev(thread_ids_.end());
  }
  Thread* thread = threads_[static_cast<std::size_t>(mine - thread_ids_.begin())].get();
  known[oldest++ % known.size()] = {id_, thread};
  return *thread;
}

Thread& Profiler::add_thread() {
  threads_.push_back(std::make_unique<Thread>());
  thread_ids_.emplace_back();
  threads_.back()->owner = this;
  threads_.back()->regions.resize(regions_);
  return *threads_.back();
}

Thread& Profiler::borrow() {
  const std::lock_guard lock(mutex_);
  if (free_.empty()) return add_thread();
  Thread* thread = free_.back();
  free_.pop_back();
  return *thread;
}

void Profiler::give_back(Thread& thread) {
  const std::lock_guard lock(mutex_);
  free_.push_back(&thread);
}

double Profiler::seconds_per_tick() const {
  if (!kCountsCycles)
    return static_cast<double>(Clock::period::num) / static_cast<double>(Clock::period::den);
  // The two clocks are not read at the same moment. Compared with this interval, the difference is
  // negligible.
  constexpr std::chrono::milliseconds kMin(5);
  Clock::time_point time = Clock::now();
  while (time - first_time_ < kMin) time = Clock::now();
  return std::chrono::duration<double>(time - first_time_).count() /
         static_cast<double>(now() - first_tick_);
}

void Profiler::reset() {
  for (const auto& thread : threads_) {
    thread->regions.assign(regions_, {});
    thread->events.clear();
    thread->dropped_events = 0;
  }
  peak_workspace_ = workspace_;
}

void Profiler::allocated(const void* memory, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  workspaces_[memory] = bytes;
  workspace_ += bytes;
  peak_workspace_ = std::max(peak_workspace_, workspace_);
}

void Profiler::released(const void* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = workspaces_.find(memory);
  if (found == workspaces_.end()) return;
  workspace_ -= found->second;
  workspaces_.erase(found);
}

}  // namespace tenon::runtime

using namespace tenon::runtime;

std::int64_t tenon_profile_begin_call(void* profiler, std::int32_t region) {
  const void* stack = __builtin_frame_address(0);
  Thread& mine = static_cast<Profiler*>(profiler)->this_thread();
  drop_ended_calls(mine, stack);
  const std::size_t depth = mine.frames.size();
  push(mine, Frame::Kind::Call, region);
  mine.frames.back().stack = stack;
  mine.frames.back().outer = current;
  current = &mine;
  return static_cast<std::int64_t>(depth);
}

void tenon_profile_end_call(void* profiler, std::int64_t depth) {
  Thread& mine = static_cast<Profiler*>(profiler)->this_thread();
  drop_to(mine, static_cast<std::size_t>(depth) + 1);
  current = mine.frames.back().outer;
  pop(mine);
}

std::int32_t tenon_profile_enter(std::int32_t region) {
  push(*current, Frame::Kind::Stage, region);
  return kTenonOk;
}

std::int32_t tenon_profile_leave(std::int32_t) {
  pop(*current);
  return kTenonOk;
}

std::int32_t tenon_profile_parallel_for(TenonLoopBody body, void* closure, std::int64_t begin,
                                        std::int64_t end) {
  auto part = [body, closure, &profiler = *current->owner, region = current_region()](
                  std::int64_t first, std::int64_t last) {
    const bool is_known = current != nullptr && current->owner == &profiler;
    const Interval interval(is_known ? *current : profiler.this_thread(), Frame::Kind::Part,
                            region);
    return body(closure, first, last);
  };
  const Interval wait = waiting();
  return tenon_parallel_for(call_closure<decltype(part)>, &part, begin, end);
}

std::int32_t tenon_profile_parallel_launch(TenonTaskBody body, void* closure,
                                           std::int32_t num_tasks) {
  auto task = [body, closure, &profiler = *current->owner, region = current_region()](
                  std::int32_t number, std::int32_t count) {
    // The thread ends with its task; another thread may use the record later.
    const auto give_back = [&](Thread* record) { profiler.give_back(*record); };
    const std::unique_ptr<Thread, decltype(give_back)> record(&profiler.borrow(), give_back);
    const Interval interval(*record, Frame::Kind::Part, region);
    return body(closure, number, count);
  };
  const Interval wait = waiting();
  return tenon_parallel_launch(call_closure<decltype(task)>, &task, num_tasks);
}

std::int32_t tenon_profile_parallel_barrier() {
  const Interval wait = waiting();
  return tenon_parallel_barrier();
}

void* tenon_profile_workspace_alloc(std::int32_t device_type, std::int32_t device_id,
                                    std::uint64_t nbytes, std::int32_t alignment) {
  void* data = tenon_workspace_alloc(device_type, device_id, nbytes, alignment);
  if (data != nullptr) current->owner->allocated(data, nbytes);
  return data;
}

std::int32_t tenon_profile_workspace_free(std::int32_t device_type, std::int32_t device_id,
                                          void* data) {
  current->owner->released(data);
  return tenon_workspace_free(device_type, device_id, data);
}
