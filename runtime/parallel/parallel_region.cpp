// Persistent parallel regions: tasks that run concurrently and may wait for one another.
//
// TBB does not guarantee concurrency (a task may start after another has ended), so that a barrier
// in its tasks could wait forever. A region therefore starts its own threads. All of them exist
// before the first task starts. If the system provides fewer than requested, the region has as many
// tasks as threads.
#include <condition_variable>
#include <exception>
#include <latch>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/core/last_error.h"
#include "runtime/parallel/parallel.h"
#include "tenon/runtime/threads.h"

namespace tenon::runtime {

namespace {

/// A barrier that also releases its waiters when it can no longer complete.
class Team {
 public:
  explicit Team(int size) : size_(size) {}

  int size() const { return size_; }

  std::int32_t wait() {
    std::unique_lock lock(mutex_);
    if (left_ > 0) broken_ = true;  // a task that has returned will not reach the barrier
    if (broken_) return refuse();
    const std::uint64_t round = round_;
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
      return kTenonOk;
    }
    changed_.wait(lock, [&] { return round_ != round || broken_; });
    return round_ != round ? kTenonOk : refuse();
  }

  void leave(std::int32_t status, const char* message) {
    std::lock_guard lock(mutex_);
    ++left_;
    if (status != kTenonOk && (status_ == kTenonOk || status_ == kTenonCancelled)) {
      status_ = status;
      message_ = message;
    }
    if (status != kTenonOk || arrived_ > 0) {
      broken_ = true;
      changed_.notify_all();
    }
  }

  /// Returns the region's status. Precondition: all tasks have returned.
  std::int32_t result() const { return status_ == kTenonOk ? kTenonOk : fail(status_, message_); }

 private:
  std::int32_t refuse() const {
    if (status_ != kTenonOk)
      return fail(kTenonCancelled, "a barrier was abandoned because another task failed");
    return fail(kTenonError,
                "a task left its parallel region while another waited for it in a barrier");
  }

  const int size_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrived_ = 0;
  int left_ = 0;
  std::uint64_t round_ = 0;
  bool broken_ = false;
  std::int32_t status_ = kTenonOk;
  std::string message_;
};

/// The innermost region of which this thread runs a task.
thread_local Team* current_team = nullptr;

void run_task(Team& team, TenonTaskBody body, void* closure, int task) {
  Team* const outer = current_team;
  current_team = &team;
  tenon_set_last_error(nullptr);
  const std::int32_t status = without_exceptions([&] { return body(closure, task, team.size()); });
  if (status != kTenonOk && *tenon_last_error() == 0)
    fail(status, "task " + std::to_string(task) + " of a parallel region returned status " +
                     std::to_string(status) + " and left no message");
  team.leave(status, tenon_last_error());
  current_team = outer;
}

std::int32_t launch(TenonTaskBody body, void* closure, int wanted) {
  // The number of threads, and with it the team, is known only after the threads have started.
  std::optional<Team> team;
  std::latch has_team(1);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(wanted - 1));
  for (int task = 1; task < wanted; ++task) {
    try {
      threads.emplace_back([&, task] {
        has_team.wait();
        run_task(*team, body, closure, task);
      });
    } catch (const std::exception&) {
      break;  // the system provides no more threads
    }
  }
  team.emplace(static_cast<int>(threads.size()) + 1);
  has_team.count_down();
  run_task(*team, body, closure, 0);
  for (std::thread& thread : threads) thread.join();
  return team->result();
}

std::int32_t parallel_launch(TenonTaskBody body, void* closure, std::int32_t num_tasks) {
  if (body == nullptr) return fail(kTenonInvalidArgument, "tenon_parallel_launch: body is NULL");
  if (num_tasks < 0 || num_tasks > kMaxThreads)
    return fail(kTenonInvalidArgument,
                "a parallel region of " + std::to_string(num_tasks) + " tasks");
  const bool nested = in_parallel_loop() || in_parallel_region();
  return launch(body, closure, nested ? 1 : num_tasks == 0 ? current_crew().threads() : num_tasks);
}

}  // namespace

bool in_parallel_region() { return current_team != nullptr; }

}  // namespace tenon::runtime

int32_t tenon_parallel_launch(TenonTaskBody body, void* closure, int32_t num_tasks) {
  return tenon::runtime::without_exceptions(
      [&] { return tenon::runtime::parallel_launch(body, closure, num_tasks); });
}

int32_t tenon_parallel_barrier(void) {
  using namespace tenon::runtime;
  return without_exceptions([]() -> std::int32_t {
    if (current_team == nullptr)
      return fail(kTenonInvalidArgument, "tenon_parallel_barrier outside a parallel region");
    return current_team->wait();
  });
}
