#include "runtime/parallel/standby.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace tenon::runtime {
namespace {

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
