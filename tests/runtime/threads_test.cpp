#include "tenon/runtime/threads.h"

#include <gtest/gtest.h>

#include "runtime/parallel/thread_counts.h"
#include "tenon/runtime/c_api.h"

namespace tenon::runtime {
namespace {

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
                "threads_test.cpp:"))
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

}  // namespace
}  // namespace tenon::runtime
