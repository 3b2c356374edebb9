#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "tenon/runtime/threads.h"
#include "tests/runtime/loops.h"

namespace tenon::runtime {
namespace {

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

}  // namespace
}  // namespace tenon::runtime
