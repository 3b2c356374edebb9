// The table of the course page in its three states, to the byte, and the arithmetic in it.
#include "tenon/tune/task_table.h"

#include <gtest/gtest.h>

#include "tests/tune/programs.h"

namespace tenon::tune {
namespace {

constexpr double kFlops = 2.0 * 128 * 128 * 128;

TEST(TaskTable, BeforeAnythingIsMeasured) {
  EXPECT_EQ(
      table_text({{.name = "main", .flops = kFlops}}),
      " ID | Name |    FLOP | Weight | Speed (GFLOPS) | Latency (us) | Weighted Latency (us) | Trials | Done \n"
      "------------------------------------------------------------------------------------------------------\n"
      "  0 | main | 4194304 |      1 |            N/A |          N/A |                   N/A |      0 |      \n"
      "------------------------------------------------------------------------------------------------------\n"
      "Total trials: 0\n"
      "Total latency (us): 0\n");
}

TEST(TaskTable, AfterTheFirstRound) {
  EXPECT_EQ(
      table_text({{.name = "main", .flops = kFlops, .trials = 5, .seconds = 316.942e-6}}),
      " ID | Name |    FLOP | Weight | Speed (GFLOPS) | Latency (us) | Weighted Latency (us) | Trials | Done \n"
      "------------------------------------------------------------------------------------------------------\n"
      "  0 | main | 4194304 |      1 |        13.2337 |     316.9420 |              316.9420 |      5 |      \n"
      "------------------------------------------------------------------------------------------------------\n"
      "Total trials: 5\n"
      "Total latency (us): 316.942\n");
}

TEST(TaskTable, WhenTheTaskHasFinished) {
  EXPECT_EQ(
      table_text({{.name = "main",
                   .flops = kFlops,
                   .trials = 64,
                   .seconds = 22.77881e-6,
                   .is_done = true}}),
      " ID | Name |    FLOP | Weight | Speed (GFLOPS) | Latency (us) | Weighted Latency (us) | Trials | Done \n"
      "------------------------------------------------------------------------------------------------------\n"
      "  0 | main | 4194304 |      1 |       184.1318 |      22.7788 |               22.7788 |     64 |    Y \n"
      "------------------------------------------------------------------------------------------------------\n"
      "Total trials: 64\n"
      "Total latency (us): 22.7788\n");
}

TEST(TaskTable, WhenTheHandWrittenSpaceIsExhausted) {
  EXPECT_EQ(
      table_text(
          {{.name = "main", .flops = kFlops, .trials = 5, .seconds = 316.942e-6, .is_done = true}}),
      " ID | Name |    FLOP | Weight | Speed (GFLOPS) | Latency (us) | Weighted Latency (us) | Trials | Done \n"
      "------------------------------------------------------------------------------------------------------\n"
      "  0 | main | 4194304 |      1 |        13.2337 |     316.9420 |              316.9420 |      5 |    Y \n"
      "------------------------------------------------------------------------------------------------------\n"
      "Total trials: 5\n"
      "Total latency (us): 316.942\n");
}

TEST(TaskTable, WeightsMultiplyTheLatencyOfTheWhole) {
  const std::string text =
      table_text({{.name = "a", .flops = 1e6, .weight = 3, .trials = 2, .seconds = 1e-6},
                  {.name = "b", .flops = 1e6, .trials = 7}});
  EXPECT_NE(text.find("Total trials: 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("Total latency (us): 3\n"), std::string::npos) << text;
}

TEST(EstimateFlops, CountsAMultiplicationAndAnAdditionForEachTermAndNoInit) {
  EXPECT_EQ(estimate_flops(product(128)), 4194304);
}

TEST(EstimateFlops, CountsAMaximumAsOne) {
  EXPECT_EQ(estimate_flops(product_relu(128)), 4194304 + 128 * 128);
}

}  // namespace
}  // namespace tenon::tune
