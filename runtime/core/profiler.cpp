#include "tenon/runtime/profiler.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <thread>

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
  thread.frames.push_back({.kind = kind,
                           .region = region,
                           .begin = now(),
                           .inside = 0,
                           .stack = nullptr,
                           .outer = nullptr});
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

/// A part of a parallel loop, or a task of a region, on any thread.
class Part {
 public:
  Part(Profiler& profiler, std::int32_t region) : Part(record_of(profiler), region) {}
  Part(Thread& thread, std::int32_t region) : outer_(current), mine_(thread) {
    current = &mine_;
    depth_ = mine_.frames.size();
    push(mine_, Frame::Kind::Part, region);
  }
  ~Part() {
    drop_to(mine_, depth_ + 1);
    pop(mine_);
    current = outer_;
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

 private:
  static Thread& record_of(Profiler& profiler) {
    const bool is_known = current != nullptr && current->owner == &profiler;
    return is_known ? *current : profiler.this_thread();
  }

  Thread* outer_;
  Thread& mine_;
  std::size_t depth_;
};

/// Borrows the record of a thread that ends with its task; another thread may use it later.
class Borrowed {
 public:
  explicit Borrowed(Profiler& profiler) : profiler_(profiler), thread_(profiler.borrow()) {}
  ~Borrowed() { profiler_.give_back(thread_); }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;

  Thread& thread() const { return thread_; }

 private:
  Profiler& profiler_;
  Thread& thread_;
};

/// Counts this thread's time as waiting, except while the thread runs parts of the loop itself.
class Wait {
 public:
  Wait() : mine_(*current), depth_(mine_.frames.size()) {
    push(mine_, Frame::Kind::Wait, mine_.frames.back().region);
  }
  ~Wait() {
    drop_to(mine_, depth_ + 1);
    pop(mine_);
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

 private:
  Thread& mine_;
  std::size_t depth_;
};

template <class Body>
struct ProfiledBody {
  Body body;
  void* closure;
  Profiler* profiler;
  std::int32_t region;
};

template <class Body>
ProfiledBody<Body> profiled(Body body, void* closure) {
  return {body, closure, current->owner, current->frames.back().region};
}

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

/// A thread's record in a profiler. Profilers are identified by number, since a new one may have
/// the address of an old one.
struct KnownThread {
  std::uint64_t profiler = 0;
  Thread* thread = nullptr;
};

}  // namespace

Profiler::Profiler(std::size_t regions)
    : id_(next_id()), regions_(regions), first_tick_(now()), first_time_(Clock::now()) {}

Profiler::~Profiler() = default;

Thread& Profiler::this_thread() {
  thread_local std::array<KnownThread, 4> known;
  thread_local std::size_t oldest = 0;
  for (const KnownThread& each : known)
    if (each.profiler == id_) return *each.thread;
  thread_local const std::thread::id me = std::this_thread::get_id();
  const std::lock_guard lock(mutex_);
  auto mine = std::ranges::find(thread_ids_, me);
  if (mine == thread_ids_.end()) {
    add_thread();
    thread_ids_.back() = me;
    mine = std::prev(thread_ids_.end());
  }
  Thread* thread = threads_[static_cast<std::size_t>(mine - thread_ids_.begin())].get();
  known[oldest++ % known.size()] = {.profiler = id_, .thread = thread};
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
  auto loop = profiled(body, closure);
  const auto run = [](void* data, std::int64_t first, std::int64_t last) {
    const auto& inner = *static_cast<ProfiledBody<TenonLoopBody>*>(data);
    const Part part(*inner.profiler, inner.region);
    return inner.body(inner.closure, first, last);
  };
  const Wait wait;
  return tenon_parallel_for(run, &loop, begin, end);
}

std::int32_t tenon_profile_parallel_launch(TenonTaskBody body, void* closure,
                                           std::int32_t num_tasks) {
  auto tasks = profiled(body, closure);
  const auto run = [](void* data, std::int32_t task, std::int32_t count) {
    const auto& inner = *static_cast<ProfiledBody<TenonTaskBody>*>(data);
    const Borrowed record(*inner.profiler);
    const Part part(record.thread(), inner.region);
    return inner.body(inner.closure, task, count);
  };
  const Wait wait;
  return tenon_parallel_launch(run, &tasks, num_tasks);
}

std::int32_t tenon_profile_parallel_barrier() {
  const Wait wait;
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
