// Programs of several operations as tasks, and the table about them.
#include "tenon/tune/tasks.h"

#include <gtest/gtest.h>

#include "tenon/s_tir/script.h"
#include "tenon/tir/buffer.h"
#include "tenon/tune/task_table.h"
#include "tests/tune/programs.h"

namespace tenon::tune {
namespace {

// ---- programs as tasks --------------------------------------------------------------------------

// Programs of several operations, as tasks.

/// Two layers max(X W, 0), and a sum of rows.
const char* const kNetwork = R"(
@T.prim_func
def main(X: T.Buffer[(16, 16), "float32"], W: T.Buffer[(16, 16), "float32"], V: T.Buffer[(16, 16), "float32"], S: T.Buffer[16, "float32"]) -> None:
    T.func_attr({"global_symbol": "main", "tir.noalias": True})
    P = T.alloc_buffer([16, 16], dtype="float32")
    R = T.alloc_buffer([16, 16], dtype="float32")
    P_1 = T.alloc_buffer([16, 16], dtype="float32")
    R_1 = T.alloc_buffer([16, 16], dtype="float32")
    for i, j, k in T.grid(16, 16, 16):
        with T.block("product"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                P[vi, vj] = T.float32(0)
            P[vi, vj] = P[vi, vj] + X[vi, vk] * W[vk, vj]
    for i, j in T.grid(16, 16):
        with T.block("relu"):
            vi, vj = T.axis.remap("SS", [i, j])
            R[vi, vj] = T.max(P[vi, vj], T.float32(0))
    for i, j, k in T.grid(16, 16, 16):
        with T.block("product_1"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                P_1[vi, vj] = T.float32(0)
            P_1[vi, vj] = P_1[vi, vj] + R[vi, vk] * V[vk, vj]
    for i, j in T.grid(16, 16):
        with T.block("relu_1"):
            vi, vj = T.axis.remap("SS", [i, j])
            R_1[vi, vj] = T.max(P_1[vi, vj], T.float32(0))
    for i, k in T.grid(16, 16):
        with T.block("rows"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = T.float32(0)
            S[vi] = S[vi] + R_1[vi, vk]
)";

TEST(Division, EqualLayersAreOneTaskOfWeightTwo) {
  const Division parts = divided(s_tir::parse_script(kNetwork));
  ASSERT_EQ(parts.tasks.size(), 2u);
  EXPECT_EQ(parts.tasks[0].name, "product_relu");
  EXPECT_EQ(parts.tasks[0].weight, 2);
  EXPECT_EQ(parts.tasks[1].name, "rows");
  EXPECT_EQ(parts.tasks[1].weight, 1);
}

TEST(Division, StepsPassResultsOn) {
  const Division parts = divided(s_tir::parse_script(kNetwork));
  std::vector<std::string> steps;
  for (const TaskStep& step : parts.steps) {
    std::string text = std::to_string(step.task) + ":";
    for (const tir::Buffer& buffer : step.arguments) text += " " + buffer->name;
    steps.push_back(text);
  }
  EXPECT_EQ(steps, (std::vector<std::string>{"0: X W R", "0: R V R_1", "1: R_1 S"}));
}

TEST(Division, ATaskIsAProgramByItself) {
  const Division parts = divided(s_tir::parse_script(kNetwork));
  const tir::IRModule again = s_tir::parse_script(s_tir::print_script(parts.tasks[0].mod));
  EXPECT_EQ(s_tir::print_script(again), s_tir::print_script(parts.tasks[0].mod));
}

TEST(Merged, EqualTasksAddTheirWeights) {
  const std::vector<Task> tasks = merged({{.name = "a", .mod = product(16), .weight = 2},
                                          {.name = "b", .mod = product(32)},
                                          {.name = "c", .mod = product(16), .weight = 3}});
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].name, "a");
  EXPECT_EQ(tasks[0].weight, 5);
}

TEST(TuneTasks, EachTaskHasARow) {
  std::string log;
  const Division parts = divided(s_tir::parse_script(kNetwork));
  const Target target("llvm --num-cores=1");
  const Database database = tune_tasks(
      parts.tasks, {.mod = {},
                    .target = target,
                    .max_trials_global = 6,
                    .num_trials_per_iter = 2,
                    .measure = {.repeat = 1, .min_repeat_ms = 0},
                    .search = {.population = 8, .generations = 1},
                    .cost_model = random_model(),
                    .log = [&](LogLevel, const std::string& line) { log += line + "\n"; },
                    .stop_on_interrupt = false});
  EXPECT_NE(log.find("  0 | product_relu |"), std::string::npos) << log;
  EXPECT_NE(log.find("  1 |         rows |"), std::string::npos) << log;
  EXPECT_NE(log.find("Total trials: 6\n"), std::string::npos) << log;
  for (const Task& task : parts.tasks) EXPECT_TRUE(apply_best(task.mod, database, target));
}

// ---- the table ----------------------------------------------------------------------------------

// The table of the course page in its three states, to the byte, and the arithmetic in it.

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
