// Checks what the course page on stochastic schedules shows of the tuner and no other test covers.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "tenon/s_tir/script.h"
#include "tenon/tune/tune.h"
#include "tests/tune/programs.h"

namespace tenon::tune {
namespace {

const Target kOneCore("llvm --num-cores=1");

void stochastic_schedule(s_tir::Schedule& sch, std::optional<std::vector<std::int64_t>> decision) {
  const s_tir::BlockRV C = sch.get_block("C", "main");
  const auto loops = sch.get_loops(C);
  const auto factors = sch.sample_perfect_tile(loops[1], {.n = 2, .decision = std::move(decision)});
  const auto parts = sch.split(loops[1], factors);
  sch.reorder({loops[0], parts[0], loops[2], parts[1]});
  sch.decompose_reduction(C, loops[2]);
}

TEST(Page, ATraceGivesTheSameModuleAsItIsAsTextAndAsJson) {
  s_tir::Schedule sch(product());
  stochastic_schedule(sch, {{8, 16}});
  for (const s_tir::Trace& trace : {sch.trace(), s_tir::parse_trace(sch.trace().text()),
                                    s_tir::parse_trace(sch.trace().json())}) {
    s_tir::Schedule fresh(product());
    fresh.apply_trace(trace);
    EXPECT_EQ(s_tir::print_script(fresh.mod()), s_tir::print_script(sch.mod()));
  }
}

TEST(Page, ALiteralHasTheTypeOfItsBuffer) {
  const std::string text = s_tir::print_script(product());
  EXPECT_NE(text.find("C[vi, vj] = T.float32(0)\n"), std::string::npos) << text;
}

TEST(Page, ATraceHasTheLinesOfThePage) {
  s_tir::Schedule sch(product());
  stochastic_schedule(sch, {{8, 16}});
  EXPECT_EQ(sch.trace().text(),
            "b0 = sch.get_block(name=\"C\", func_name=\"main\")\n"
            "l1, l2, l3 = sch.get_loops(block=b0)\n"
            "v4, v5 = sch.sample_perfect_tile(loop=l2, n=2, max_innermost_factor=16, "
            "decision=[8, 16])\n"
            "l6, l7 = sch.split(loop=l2, factors=[v4, v5], preserve_unit_iters=True)\n"
            "sch.reorder(l1, l6, l3, l7)\n"
            "b8 = sch.decompose_reduction(block=b0, loop=l3)");
}

/// Lines of the log with their time, as files have them.
std::vector<std::string> logged(const TuneOptions& options) {
  tune_tir(options);
  std::ifstream in(options.work_dir / "logs" / "tuning.log");
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class PageLog : public ::testing::Test {
 protected:
  PageLog() { std::filesystem::remove_all(folder); }
  ~PageLog() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tune_page_" + std::to_string(getpid()));
};

TEST_F(PageLog, LinesHaveTheTimeAndHowMuchTheyMatter) {
  const std::vector<std::string> lines = logged(
      {.mod = product(32),
       .target = kOneCore,
       .max_trials_global = 1,
       .space = schedule_fn([](s_tir::Schedule& sch) { stochastic_schedule(sch, std::nullopt); }),
       .work_dir = folder,
       .measure = {.build_workers = 3, .repeat = 1, .min_repeat_ms = 0},
       .cost_model = random_model(),
       .log = [](LogLevel, const std::string&) {},
       .stop_on_interrupt = false});
  const std::string time = R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d )";
  const std::string expected[] = {
      R"(\[INFO\] Logging directory: .*/logs)",
      R"(\[INFO\] LocalBuilder: max_workers = 3)",
      R"(\[INFO\] LocalRunner: max_workers = 1)",
      R"(\[INFO\] \[task_scheduler\.cc:159\] Initializing Task #0: "main")",
      R"(\[DEBUG\] \[task_scheduler\.cc:318\] )",
  };
  ASSERT_GE(lines.size(), std::size(expected));
  for (std::size_t n = 0; n < std::size(expected); ++n)
    EXPECT_TRUE(std::regex_match(lines[n], std::regex(time + expected[n]))) << lines[n];
}

TEST(Page, WithoutASpaceAllSamplesAreOneBatch) {
  std::string log;
  const tir::IRModule mod = product(32);
  const Database database =
      tune_tir({.mod = mod,
                .target = kOneCore,
                .max_trials_global = 64,
                .num_trials_per_iter = 64,
                .measure = {.repeat = 1, .min_repeat_ms = 0},
                .cost_model = random_model(),
                .log = [&](LogLevel, const std::string& line) { log += line + "\n"; },
                .stop_on_interrupt = false});
  EXPECT_NE(log.find("Sending 64 sample(s) to builder"), std::string::npos) << log;
  EXPECT_NE(log.find("Sending 64 sample(s) to runner"), std::string::npos) << log;
  EXPECT_NE(log.find("Total trials: 64\n"), std::string::npos) << log;
  EXPECT_EQ(database.records(mod).size(), 64u);
}

/// More levels of tiles, vectors of what is between, parallel loops and unrolling: the page's claim
/// of the best trace. Each design of the space has them, so whatever is best has.
TEST(Page, DefaultDesignsHaveTilesVectorsParallelLoopsAndUnrolling) {
  for (const s_tir::Schedule& design : post_order_apply().designs(product(), kOneCore)) {
    const std::string text = design.trace().text();
    int tiles = 0;
    for (std::size_t at = 0; (at = text.find("sample_perfect_tile(", at)) != std::string::npos;
         ++at)
      tiles += text.compare(text.find("n=", at), 4, "n=4,") == 0 ? 1 : 0;
    EXPECT_GE(tiles, 2) << text;
    for (const char* part :
         {"meta_schedule.parallel", "meta_schedule.vectorize", "meta_schedule.unroll_explicit"})
      EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  }
}

}  // namespace
}  // namespace tenon::tune
