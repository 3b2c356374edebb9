// The page about a database, and the exported program.
#include "tenon/tune/report.h"

#include <gtest/gtest.h>

#include "tenon/tune/export.h"
#include "tests/tune/programs.h"

namespace tenon::tune {
namespace {

const Target kOneCore("llvm -num-cores=1");

Record record(std::int64_t factor, double seconds) {
  s_tir::Schedule sch(product());
  sch.split(sch.get_loops(sch.get_block("C"))[1], {std::nullopt, factor});
  return {.trace = sch.trace(),
          .measurement = {.seconds = {seconds}},
          .conditions = Conditions::of(kOneCore),
          .predicted = 1 / seconds};
}

TEST(Report, SaysTheBestAndWhatFailed) {
  Database database;
  database.add(product(), record(4, 2e-3));
  database.add(product(), record(8, 1e-3));
  Record failed = record(16, 1);
  failed.measurement = {Outcome::Wrong, {}, "argument 2 is wrong at element 3: 1 instead of <2>"};
  database.add(product(), failed);
  const std::string page = report(database);
  // 4194304 operations in 1000 us.
  EXPECT_NE(
      page.find("3 trials, 2 measured. Best 1000 &micro;s, 4.194 GFLOPS; slowest 2 times that"),
      std::string::npos)
      << page;
  EXPECT_NE(page.find("wrong: argument 2 is wrong at element 3: 1 instead of &lt;2&gt;"),
            std::string::npos);
  EXPECT_NE(page.find("rank correlation 1)"), std::string::npos);
}

TEST(RankCorrelation, IsOneForTheSameOrderAndMinusOneForTheReverse) {
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {10, 20, 30, 40}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}), -1);
  // Five of six pairs agree and one does not.
  EXPECT_DOUBLE_EQ(rank_correlation({1, 2, 3, 4}, {1, 2, 4, 3}), 4.0 / 6);
}

TEST(RankCorrelation, IsZeroWhereNothingIsOrdered) {
  EXPECT_EQ(rank_correlation({1, 1, 1}, {1, 2, 3}), 0);
  EXPECT_EQ(rank_correlation({}, {}), 0);
}

TEST(ScheduleText, HasTheNumbersThatWereDrawn) {
  s_tir::Schedule sch(product());
  const auto loops = sch.get_loops(sch.get_block("C"));
  const auto factors = sch.sample_perfect_tile(loops[1], {.n = 2, .decision = {{8, 16}}});
  const auto parts = sch.split(loops[1], factors);
  sch.reorder({loops[0], parts[0], loops[2], parts[1]});
  const auto steps = sch.sample_categorical({0, 16, 64}, {0.2, 0.4, 0.4}, {.decision = 2});
  sch.annotate(parts[0], "pragma_auto_unroll_max_step", steps);
  EXPECT_EQ(schedule_text(sch.trace()),
            "  const auto b0 = sch.get_block(\"C\", \"main\");\n"
            "  const auto l1 = sch.get_loops(b0);\n"
            "  const auto l2 = sch.split(l1[1], {8, 16});\n"
            "  sch.reorder({l1[0], l2[0], l1[2], l2[1]});\n"
            "  sch.annotate(l2[0], \"pragma_auto_unroll_max_step\", std::int64_t{64});\n");
}

}  // namespace
}  // namespace tenon::tune
