// Parallel loops and regions, and the threads that run them.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/parallel/parallel.h"
#include "runtime/parallel/standby.h"
#include "tenon/runtime/c_api.h"
#include "tenon/runtime/threads.h"
#include "tests/runtime/loops.h"

namespace tenon::runtime {
namespace {

// ---- loops --------------------------------------------------------------------------------------

class ParallelFor : public testing::Test {
 protected:
  ~ParallelFor() override { set_num_threads(0); }
};

TEST_F(ParallelFor, RunsEveryIterationOnce) {
  // More than 64 threads share parts of the loop.
  for (int threads : {1, 2, 3, 8, 70}) {
    set_num_threads(threads);
    for (std::int64_t extent : {0, 1, 2, 7, 1000}) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(extent));
      ASSERT_EQ(parallel_for(-5, extent - 5,
                             [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i + 5)]; }),
                kTenonOk);
      EXPECT_TRUE(std::ranges::all_of(runs, [](const auto& n) { return n == 1; }));
    }
  }
}

TEST_F(ParallelFor, AnEmptyOrReversedRangeRunsNothing) {
  bool ran = false;
  EXPECT_EQ(parallel_for(3, 3, [&](std::int64_t) { ran = true; }), kTenonOk);
  EXPECT_EQ(parallel_for(3, -3, [&](std::int64_t) { ran = true; }), kTenonOk);
  EXPECT_FALSE(ran);
}

TEST_F(ParallelFor, ARangeWiderThan63BitsIsRefused) {
  EXPECT_EQ(parallel_for(INT64_MIN, INT64_MAX, [](std::int64_t) {}), kTenonInvalidArgument);
}

/// The number of threads that were inside a loop of slow iterations at the same time, at most.
int most_at_once() {
  std::atomic<int> inside = 0, most = 0;
  parallel_for(0, 64, [&](std::int64_t) {
    const int now = ++inside;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    --inside;
  });
  return most;
}

TEST_F(ParallelFor, UsesNoMoreThreadsThanSetUpAndDown) {
  for (int threads : {4, 8, 2, 1, 3}) {
    set_num_threads(threads);
    EXPECT_EQ(num_threads(), threads);
    EXPECT_LE(most_at_once(), threads);
  }
}

/// Whether so many iterations of a loop can be inside at the same time: each waits for the others,
/// and gives up after a time in which even a busy machine would have started them.
bool run_together(int iterations) {
  std::atomic<int> inside = 0;
  std::atomic<bool> together = false;
  parallel_for(0, iterations, [&](std::int64_t) {
    if (++inside == iterations) together = true;
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!together && std::chrono::steady_clock::now() < give_up)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    --inside;
  });
  return together;
}

TEST_F(ParallelFor, UsesMoreThreadsThanThereAreProcessorsWhenAsked) {
  const int threads = static_cast<int>(std::thread::hardware_concurrency()) + 2;
  set_num_threads(threads);
  EXPECT_TRUE(run_together(threads));
}

TEST_F(ParallelFor, NestsThreeDeep) {
  for (int threads : {1, 2, 4}) {
    set_num_threads(threads);
    std::atomic<int> count = 0;
    parallel_for(0, 9, [&](std::int64_t) {
      parallel_for(0, 8, [&](std::int64_t) { parallel_for(0, 7, [&](std::int64_t) { ++count; }); });
    });
    EXPECT_EQ(count, 9 * 8 * 7);
  }
}

TEST_F(ParallelFor, AnInnerLoopUsesThreadsThatTheOuterLeavesIdle) {
  set_num_threads(4);
  std::atomic<bool> together = false;
  parallel_for(0, 2, [&](std::int64_t outer) {
    if (outer == 0) together = run_together(2);
  });
  EXPECT_TRUE(together);
}

TEST_F(ParallelFor, TheStackStaysWithinTheStaticNest) {
  set_num_threads(4);
  struct Depth {
    static char*& base() {
      thread_local char* address = nullptr;
      return address;
    }
  };
  std::atomic<std::int64_t> deepest = 0;
  parallel_for(0, 20000, [&](std::int64_t) {
    char here = 0;
    char*& base = Depth::base();
    const bool outermost = base == nullptr;
    if (outermost) base = &here;
    const std::int64_t depth = base - &here;
    for (std::int64_t seen = deepest;
         seen < depth && !deepest.compare_exchange_weak(seen, depth);) {
    }
    parallel_for(0, 2, [&](std::int64_t) { parallel_for(0, 2, [](std::int64_t) {}); });
    if (outermost) base = nullptr;
  });
  EXPECT_EQ(deepest, 0)
      << "an iteration of the outer loop began inside another one on the same thread";
}

TEST_F(ParallelFor, AnErrorStopsTheLoopAndReachesTheCallerWithItsMessage) {
  for (int threads : {1, 2, 4}) {
    set_num_threads(threads);
    tenon_set_last_error("old");
    std::atomic<int> runs = 0;
    const int status = parallel_for_status(0, 1000000, [&](std::int64_t i) -> std::int32_t {
      ++runs;
      if (i != 4321) return kTenonOk;
      tenon_set_last_error("iteration 4321 found a hole");
      return 77;
    });
    EXPECT_EQ(status, 77);
    EXPECT_STREQ(tenon_last_error(), "iteration 4321 found a hole");
    EXPECT_LT(runs, 1000000);
  }
}

TEST_F(ParallelFor, AnErrorOfAnInnerLoopReachesTheCaller) {
  set_num_threads(4);
  for (int round = 0; round < 50; ++round) {
    const int status = parallel_for_status(0, 16, [&](std::int64_t i) {
      return parallel_for_status(0, 16, [&](std::int64_t j) -> std::int32_t {
        if (i != 7 || j != 9) return kTenonOk;
        tenon_set_last_error("inner");
        return 5;
      });
    });
    ASSERT_EQ(status, 5);
    ASSERT_STREQ(tenon_last_error(), "inner");
  }
}

TEST_F(ParallelFor, AnInnerLoopStopsWhenTheOuterHasFailed) {
  constexpr int kMany = 10'000;
  set_num_threads(2);
  std::atomic<bool> has_begun = false;
  std::atomic<int> ran = 0, inner = kTenonOk;
  const std::int32_t outer = parallel_for_status(0, 2, [&](std::int64_t i) -> std::int32_t {
    if (i == 0) {
      const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (!has_begun && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
      return 3;
    }
    inner = parallel_for(0, kMany, [&](std::int64_t) {
      has_begun = true;
      ++ran;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    return inner;
  });
  EXPECT_EQ(outer, 3);
  EXPECT_EQ(inner, kTenonCancelled);
  EXPECT_LT(ran, kMany);
}

TEST_F(ParallelFor, AStatusWithoutAMessageGetsOne) {
  set_num_threads(2);
  EXPECT_EQ(parallel_for_status(0, 8, [](std::int64_t) { return 9; }), 9);
  EXPECT_STREQ(tenon_last_error(),
               "the body of a parallel loop returned status 9 and left no message");
}

TEST_F(ParallelFor, AnExceptionOfABodyBecomesAnError) {
  for (int threads : {1, 4}) {
    set_num_threads(threads);
    auto status = parallel_for(0, 100, [](std::int64_t i) {
      if (i == 50) throw std::runtime_error("thrown in iteration 50");
    });
    EXPECT_EQ(status, kTenonError);
    EXPECT_STREQ(tenon_last_error(), "thrown in iteration 50");
    EXPECT_EQ(parallel_for(0, 1, [](std::int64_t) { throw 5; }), kTenonError);
    EXPECT_STREQ(tenon_last_error(), "an exception of unknown type");
  }
}

TEST_F(ParallelFor, MessagesBelongToTheirThread) {
  tenon_set_last_error("of the main thread");
  std::thread([] { tenon_set_last_error("of another"); }).join();
  EXPECT_STREQ(tenon_last_error(), "of the main thread");
}

TEST_F(ParallelFor, ManyCyclesOfCountsErrorsAndNestsEnd) {
  for (int cycle = 0; cycle < 2000; ++cycle) {
    set_num_threads(1 + cycle % 4);
    std::atomic<int> sum = 0;
    ASSERT_EQ(parallel_for(0, 10, [&](std::int64_t i) { sum += static_cast<int>(i); }), kTenonOk);
    ASSERT_EQ(sum, 45);
    ASSERT_EQ(
        parallel_for_status(0, 4, [&](std::int64_t i) { return i == cycle % 4 ? 3 : kTenonOk; }),
        3);
  }
}

TEST_F(ParallelFor, SeveralThreadsMayCallAtOnce) {
  set_num_threads(3);
  std::vector<std::thread> callers;
  std::atomic<std::int64_t> sum = 0;
  for (int caller = 0; caller < 6; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 100; ++round)
        parallel_for(0, 10,
                     [&](std::int64_t) { parallel_for(0, 3, [&](std::int64_t) { ++sum; }); });
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 6 * 100 * 30);
}

TEST_F(ParallelFor, AChildProcessRunsLoopsOnOneThread) {
  set_num_threads(4);
  parallel_for(0, 100, [](std::int64_t) {});
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int sum = 0;
    const bool ok =
        parallel_for(0, 10, [&](std::int64_t i) { sum += static_cast<int>(i); }) == kTenonOk;
    _exit(ok && sum == 45 && num_threads() == 1 ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// ---- regions ------------------------------------------------------------------------------------

class ParallelRegion : public testing::Test {
 protected:
  ~ParallelRegion() override { set_num_threads(0); }
};

TEST_F(ParallelRegion, EveryTaskRunsOnceAndKnowsHowManyThereAre) {
  for (int n : {1, 2, 5, 16}) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(n));
    ASSERT_EQ(parallel_launch(n,
                              [&](int task, int count) -> std::int32_t {
                                if (count == n) ++runs[static_cast<std::size_t>(task)];
                                return kTenonOk;
                              }),
              kTenonOk);
    for (const auto& count : runs) EXPECT_EQ(count, 1);
  }
}

TEST_F(ParallelRegion, TakesTheSetNumberOfThreadsByDefault) {
  set_num_threads(3);
  int seen = 0;
  parallel_launch(0, [&](int task, int count) -> std::int32_t {
    if (task == 0) seen = count;
    return kTenonOk;
  });
  EXPECT_EQ(seen, 3);
}

// Two stages as pragma parallel_launch_point makes them: every task writes its part of the first
// array, and after the barrier reads what others wrote, for each thread count.
TEST_F(ParallelRegion, ABarrierOrdersTheStages) {
  constexpr int n = 1000;
  for (int threads : {1, 2, 3, 7}) {
    std::vector<int> first(n), second(n);
    auto body = [&](int task, int count) -> std::int32_t {
      for (int round = 0; round < 20; ++round) {
        for (int i = task; i < n; i += count) first[static_cast<std::size_t>(i)] = i + round;
        if (auto status = tenon_parallel_barrier(); status != kTenonOk) return status;
        for (int i = task; i < n; i += count)
          second[static_cast<std::size_t>(i)] = first[static_cast<std::size_t>(n - 1 - i)];
        if (auto status = tenon_parallel_barrier(); status != kTenonOk) return status;
      }
      return kTenonOk;
    };
    ASSERT_EQ(parallel_launch(threads, body), kTenonOk);
    for (int i = 0; i < n; ++i) ASSERT_EQ(second[static_cast<std::size_t>(i)], n - 1 - i + 19);
  }
}

// Between two rounds there is only the barrier, so that the first task to leave it arrives at the
// next while others still wake up in the last.
TEST_F(ParallelRegion, ManyBarriersInARowKeepTheRoundsApart) {
  constexpr int kRounds = 4000;
  for (int tasks : {2, 3, 7}) {
    std::vector<std::atomic<int>> done(static_cast<std::size_t>(tasks));
    std::atomic<int> early = 0;
    auto body = [&](int task, int count) -> std::int32_t {
      for (int round = 1; round <= kRounds; ++round) {
        done[static_cast<std::size_t>(task)] = round;
        if (auto status = tenon_parallel_barrier(); status != kTenonOk) return status;
        // Others are in this round, or have gone on to the next and wait there for this one.
        for (int other = 0; other < count; ++other) {
          const int at = done[static_cast<std::size_t>(other)];
          early += at != round && at != round + 1;
        }
      }
      return kTenonOk;
    };
    ASSERT_EQ(parallel_launch(tasks, body), kTenonOk);
    EXPECT_EQ(early, 0) << tasks;
  }
}

TEST_F(ParallelRegion, AFailingTaskEndsTheWaitOfTheOthers) {
  for (int round = 0; round < 50; ++round) {
    const int status = parallel_launch(4, [](int task, int) -> std::int32_t {
      if (task != 2) return tenon_parallel_barrier();
      tenon_set_last_error("task 2 broke");
      return 12;
    });
    ASSERT_EQ(status, 12);
    ASSERT_STREQ(tenon_last_error(), "task 2 broke");
  }
}

TEST_F(ParallelRegion, TasksThatMeetDifferentNumbersOfBarriersFailRatherThanHang) {
  const int status = parallel_launch(3, [](int task, int) -> std::int32_t {
    return task == 0 ? kTenonOk : tenon_parallel_barrier();
  });
  EXPECT_EQ(status, kTenonError);
  EXPECT_STREQ(tenon_last_error(),
               "a task left its parallel region while another waited for it in a barrier");
}

TEST_F(ParallelRegion, ABarrierOutsideOneIsAnError) {
  EXPECT_EQ(tenon_parallel_barrier(), kTenonInvalidArgument);
}

TEST_F(ParallelRegion, InsideALoopOrAnotherRegionItHasOneTask) {
  set_num_threads(4);
  std::atomic<int> tasks = 0;
  auto one = [&](int, int count) -> std::int32_t {
    tasks += count;
    return tenon_parallel_barrier();
  };
  EXPECT_EQ(parallel_for_status(0, 10, [&](std::int64_t) { return parallel_launch(0, one); }),
            kTenonOk);
  EXPECT_EQ(parallel_launch(4, [&](int, int) { return parallel_launch(0, one); }), kTenonOk);
  EXPECT_EQ(tasks, 14);
}

TEST_F(ParallelRegion, LoopsInsideRunInline) {
  set_num_threads(4);
  std::atomic<int> foreign = 0;
  parallel_launch(3, [&](int, int) {
    const auto self = std::this_thread::get_id();
    return parallel_for(0, 100,
                        [&](std::int64_t) { foreign += std::this_thread::get_id() != self; });
  });
  EXPECT_EQ(foreign, 0);
}

TEST_F(ParallelRegion, ANegativeNumberOfTasksIsRefused) {
  EXPECT_EQ(parallel_launch(-1, [](int, int) -> std::int32_t { return kTenonOk; }),
            kTenonInvalidArgument);
}

// ---- number of threads --------------------------------------------------------------------------

TEST(Threads, ZeroGoesBackToTheDefault) {
  set_num_threads(0);
  const int by_default = num_threads();
  set_num_threads(by_default + 3);
  EXPECT_EQ(num_threads(), by_default + 3);
  set_num_threads(0);
  EXPECT_EQ(num_threads(), by_default);
}

TEST(Threads, ANegativeNumberIsRefusedWithTheCallersLine) {
  try {
    set_num_threads(-2);
    FAIL();
  } catch (const RuntimeError& error) {
    EXPECT_TRUE(
        std::string(error.what())
            .starts_with(
                "set_num_threads: expected 1 to 4096 threads, or 0 for the default, got -2 (at "
                "parallel_test.cpp:"))
        << error.what();
  }
  EXPECT_EQ(tenon_set_num_threads(5000), kTenonError);
}

TEST(Threads, TheVariableHoldsANumber) {
  EXPECT_EQ(parse_num_threads("8"), 8);
  for (const char* wrong : {"", "abc", "0", "-1", "2.5", "4 ", "99999999999", "5000"})
    EXPECT_THROW(parse_num_threads(wrong), RuntimeError) << wrong;
}

TEST(Threads, AQuotaIsWorthItsShareOfThePeriodRoundedUp) {
  EXPECT_EQ(processors_of_quota("200000 100000"), 2);
  EXPECT_EQ(processors_of_quota("150000 100000"), 2);
  EXPECT_EQ(processors_of_quota("50000 100000"), 1);
}

TEST(Threads, NoQuotaIsNoLimit) {
  for (const char* none : {"max 100000", "-1 100000", "", "100000", "100000 0"})
    EXPECT_EQ(processors_of_quota(none), std::nullopt) << none;
}

TEST(Threads, TheCInterfaceGivesTheSameNumber) {
  int32_t n = 0;
  EXPECT_EQ(tenon_num_threads(&n), kTenonOk);
  EXPECT_EQ(n, num_threads());
}

// ---- waiting threads ----------------------------------------------------------------------------

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds kStay(50);

/// Calls f until it gives true; false after a time in which even a busy machine would have got
/// there.
template <class F>
bool in_the_end(const F& f) {
  const Clock::time_point give_up = Clock::now() + std::chrono::seconds(20);
  while (!f())
    if (Clock::now() > give_up) return false;
  return true;
}

struct StandbyTest : ::testing::Test {
  /// How many take part in a run, of which each waits a moment for so many.
  static int join(Standby& standby, int others, std::chrono::microseconds moment) {
    std::atomic<int> joined = 0;
    EXPECT_TRUE(standby.run(others, [&](int) {
      ++joined;
      const Clock::time_point end = Clock::now() + moment;
      while (joined <= others && Clock::now() < end) std::this_thread::yield();
    }));
    return joined;
  }
};

TEST_F(StandbyTest, OthersTakePart) {
  tbb::task_arena arena(3);
  Standby standby(arena, 3, kStay);
  EXPECT_TRUE(in_the_end([&] { return join(standby, 2, std::chrono::seconds(1)) == 3; }));
}

TEST_F(StandbyTest, NoMoreTakePartThanThereAreThreads) {
  tbb::task_arena arena(2);
  Standby standby(arena, 2, kStay);
  for (int run = 0; run < 1000; ++run)
    ASSERT_LE(join(standby, 7, std::chrono::microseconds(20)), 2);
}

TEST_F(StandbyTest, RunEndsAfterAllThatTakePart) {
  tbb::task_arena arena(4);
  Standby standby(arena, 4, kStay);
  for (int run = 0; run < 1000; ++run) {
    std::atomic<int> inside = 0;
    standby.run(3, [&](int) {
      ++inside;
      std::this_thread::sleep_for(std::chrono::microseconds(10));
      --inside;
    });
    ASSERT_EQ(inside, 0);
  }
}

TEST_F(StandbyTest, NumbersAreOfOneThreadEach) {
  tbb::task_arena arena(4);
  Standby standby(arena, 4, kStay);
  for (int run = 0; run < 1000; ++run) {
    std::mutex mutex;
    std::vector<int> numbers;
    const std::thread::id caller = std::this_thread::get_id();
    standby.run(3, [&](int n) {
      const std::lock_guard lock(mutex);
      numbers.push_back(n);
      EXPECT_EQ(n == 0, std::this_thread::get_id() == caller);
    });
    std::ranges::sort(numbers);
    for (std::size_t n = 0; n < numbers.size(); ++n) ASSERT_EQ(numbers[n], static_cast<int>(n));
  }
}

TEST_F(StandbyTest, ServesOneCallerAtATime) {
  tbb::task_arena arena(2);
  Standby standby(arena, 2, kStay);
  bool is_served = true;
  standby.run(0, [&](int) { std::thread([&] { is_served = standby.run(1, [](int) {}); }).join(); });
  EXPECT_FALSE(is_served);
  EXPECT_TRUE(standby.run(0, [](int) {}));
}

/// Whether the thread of an arena of two runs what TBB has for it.
bool is_free(tbb::task_arena& arena) {
  std::atomic<bool> has_run = false;
  arena.enqueue([&] { has_run = true; });
  return in_the_end([&] { return has_run.load(); });
}

TEST_F(StandbyTest, ThreadsGoBackAfterATime) {
  for (const std::chrono::microseconds stay : {std::chrono::microseconds(0), kStay}) {
    tbb::task_arena two(2);
    Standby standby(two, 2, stay);
    EXPECT_TRUE(in_the_end([&] { return join(standby, 1, std::chrono::seconds(1)) == 2; }));
    EXPECT_TRUE(is_free(two));
    EXPECT_TRUE(in_the_end([&] { return join(standby, 1, std::chrono::seconds(1)) == 2; }));
  }
}

TEST_F(StandbyTest, ThreadsGoBackWhenTheyAreDismissed) {
  tbb::task_arena two(2);
  Standby standby(two, 2, std::chrono::hours(1));
  EXPECT_TRUE(in_the_end([&] { return join(standby, 1, std::chrono::seconds(1)) == 2; }));
  standby.dismiss();
  EXPECT_TRUE(is_free(two));
}

}  // namespace
}  // namespace tenon::runtime
