#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "tenon/runtime/threads.h"
#include "tests/runtime/loops.h"

namespace tenon::runtime {
namespace {

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

}  // namespace
}  // namespace tenon::runtime
