// Checks warnings about accepted schedules: kept in Schedule::warnings(), with the line of the
// call.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/common/refusal.h"

namespace tenon::testing {
namespace {

struct WarningTest : ::testing::Test {
  te::Tensor A = te::placeholder({8, 6}, "A");
  te::Tensor B = te::compute(
      {8, 6}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  te::IterVar i = s[B].axis(0), j = s[B].axis(1);

  /// The only warning has the parts, and the line of the call (or one of the next few).
  void expect_warning(const std::vector<std::string>& parts,
                      SourceLocation where = SourceLocation::current()) const {
    ASSERT_EQ(s.warnings().size(), 1u) << where.line();
    const std::string& warning = s.warnings().front();
    for (const std::string& part : parts)
      EXPECT_NE(warning.find(part), std::string::npos) << part << ": " << warning;
    EXPECT_NE(warning.find("warnings_test.cpp:"), std::string::npos) << warning;
  }
};

TEST_F(WarningTest, APragmaThatNothingKnows) {
  for (int n = 0; n < 2; ++n) s[B].pragma(i, "auto_unrol_max_step", 8);
  expect_warning({"pragma of axis `i` of stage `B`", "`auto_unrol_max_step`", "no effect",
                  "unroll, vectorize", "auto_unroll_max_step", "loop_partition_hint",
                  "tensor_core"});
  std::ostringstream text;
  text << lower(s, {A, B}, {.simple_mode = true});
  EXPECT_NE(text.str().find("\"pragma_auto_unrol_max_step\" = 8"), std::string::npos) << text.str();
}

TEST_F(WarningTest, NoPragmaThatMeansSomething) {
  s[B].pragma(j, "auto_unroll_max_step", 4)
      .pragma(j, "unroll_explicit", false)
      .pragma(j, "tensor_core");
  s[B].pragma(i, "import_llvm", "x.ll").pragma(i, "import_c", "x.c").pragma(i, "debug_skip_region");
  s[B].pragma(i, "parallel_launch_point").pragma(j, "parallel_stride_pattern");
  s[B].pragma(j, "parallel_barrier_when_finish").pragma(j, "loop_partition_hint");
  EXPECT_TRUE(s.warnings().empty()) << s.warnings().front();
}

TEST_F(WarningTest, ASplitLosesWhatWasSaidOfTheLoop) {
  s[B].vectorize(j).pragma(j, "unroll_explicit", false);
  s[B].split(j, 4);
  expect_warning(
      {"split of axis `j` of stage `B`", "Vectorized", "`unroll_explicit`", "no longer holds"});
}

TEST_F(WarningTest, ASecondMarkReplacesTheFirst) {
  s[B].vectorize(j).unroll(j);
  expect_warning({"unroll of axis `j` of stage `B`", "was Vectorized", "no longer holds"});
}

TEST_F(WarningTest, TheSameMarkAgainSaysNothing) {
  s[B].unroll(j).unroll(j);
  EXPECT_TRUE(s.warnings().empty()) << s.warnings().front();
}

TEST_F(WarningTest, SoDoTheOtherPrimitivesThatTakeLoopsAway) {
  s[B].parallel(i);
  te::Schedule fused = s.copy(), tiled = s.copy(), parted = s.copy(), moved = s.copy();
  fused[B].fuse(i, j);
  tiled[B].tile(i, j, 4, 2);
  parted[B].split_by_nparts(i, 2);
  moved[B].transform_layout([](Var x, Var y) -> std::vector<Expr> { return {y, x}; });
  for (const auto& [schedule, primitive] :
       {std::pair(fused, "fuse"), std::pair(tiled, "tile"), std::pair(parted, "split_by_nparts"),
        std::pair(moved, "transform_layout")}) {
    ASSERT_EQ(schedule.warnings().size(), 1u) << primitive;
    const std::string start = std::string(primitive) + " of axis `i` of stage `B`";
    EXPECT_TRUE(schedule.warnings()[0].starts_with(start)) << schedule.warnings()[0];
    EXPECT_NE(schedule.warnings()[0].find("Parallelized"), std::string::npos)
        << schedule.warnings()[0];
  }
}

TEST_F(WarningTest, SoDoRewritesThatReplaceTheOperation) {
  auto [outer, inner] = s[B].split(j, 4);
  s[B].vectorize(inner).parallel(i);
  s.cache_write(B, "local");
  expect_warning({"cache_write of axis `j.inner` of stage `B`", "Vectorized", "no longer holds"});
}

TEST_F(WarningTest, NothingIsLostWhereNothingWasSaid) {
  te::Tensor C = te::compute(
      {8, 6}, {"i", "j"}, [&](Var x, Var y) { return B(x, y) * 2.0f; }, "C");
  s = te::create_schedule(C);
  s[B].storage_align(i, 8, 1);
  s[B].parallel(i);
  auto [outer, inner] = s[B].split(j, 4);
  s[B].reorder({outer, i, inner});
  EXPECT_TRUE(s.warnings().empty());
}

TEST_F(WarningTest, WhatIsSaidOfAStageThatIsInlined) {
  te::Tensor C = te::compute(
      {8, 6}, {"i", "j"}, [&](Var x, Var y) { return B(x, y) * 2.0f; }, "C");
  s = te::create_schedule(C);
  te::Schedule later = s.copy();
  s[B].compute_inline().vectorize(j);
  expect_warning({"vectorize of axis `j` of stage `B`", "inlined", "its readers"});
  s = later;
  s[B].vectorize(j).compute_inline();
  expect_warning({"compute_inline of axis `j` of stage `B`", "Vectorized", "its readers'"});
}

/// Returns what lower writes to the standard error.
std::string told_by(const std::function<void()>& lowers) {
  ::testing::internal::CaptureStderr();
  lowers();
  return ::testing::internal::GetCapturedStderr();
}

TEST_F(WarningTest, IsToldOnceByWhatLowersTheSchedule) {
  s[B].vectorize(j).unroll(j);
  const std::string told = told_by([&] { lower(s, {A, B}); });
  EXPECT_EQ(told, "warning: " + s.warnings().at(0) + "\n");
  EXPECT_EQ(told_by([&] { build(s, {A, B}); }), "");
  EXPECT_EQ(told_by([&] { lower(s.copy(), {A, B}); }), "");
}

TEST_F(WarningTest, ARollingBufferAtRoot) {
  te::Tensor C = te::compute(
      {7, 6}, {"i", "j"}, [&](Var x, Var y) { return B(x, y) + B(x + 1, y); }, "C");
  s = te::create_schedule(C);
  s[B].rolling_buffer();
  const std::string told = told_by([&] { lower(s, {A, C}); });
  EXPECT_NE(told.find("rolling_buffer of stage `B`: it has no effect"), std::string::npos) << told;
  s = te::create_schedule(C);
  s[B].rolling_buffer().compute_at(s[C], s[C].axis(0));
  EXPECT_EQ(told_by([&] { lower(s, {A, C}); }), "");
}

/// Rows of a table, picked by data.
struct Gather {
  explicit Gather(int rows)
      : table(te::placeholder({rows, 64}, "table")),
        index(te::placeholder({32}, "index", Int(32))),
        picked(te::compute(
            {32, 64}, {"i", "j"}, [&](Var i, Var j) { return table(index(i), j); }, "picked")),
        s(te::create_schedule(picked)),
        copy(s.cache_read(table, "global", {picked})) {}

  te::Tensor table, index, picked;
  te::Schedule s;
  te::Tensor copy;
};

TEST(GatherWarningTest, NamesTheLoopAndWhatEachIterationCopies) {
  const Gather g(1000);
  g.s[g.copy].compute_at(g.s[g.picked], g.s[g.picked].axis(0));
  const std::string told = told_by([&] { lower(g.s, {g.table, g.index, g.picked}); });
  for (const char* part :
       {"compute_at of stage `table.global`", "256000 bytes", "32 iterations", "loop `i`",
        "`picked`", "dimension 0", "at root", "Bounds::Exact", "256 bytes", "warnings_test.cpp:"})
    EXPECT_NE(told.find(part), std::string::npos) << part << ": " << told;
}

TEST(GatherWarningTest, IsSilentWhereLittleIsCopiedOrOnlyOnce) {
  const Gather at_root(1000), small(100), exact(1000);
  EXPECT_EQ(told_by([&] { lower(at_root.s, {at_root.table, at_root.index, at_root.picked}); }), "");
  small.s[small.copy].compute_at(small.s[small.picked], small.s[small.picked].axis(0));
  EXPECT_EQ(told_by([&] { lower(small.s, {small.table, small.index, small.picked}); }), "");
  exact.s[exact.copy].compute_at(exact.s[exact.picked], exact.s[exact.picked].axis(0));
  EXPECT_EQ(told_by([&] {
              lower(exact.s, {exact.table, exact.index, exact.picked}, {.bounds = Bounds::Exact});
            }),
            "");
}

TEST_F(WarningTest, APrimitiveThatFailsLosesNothing) {
  s[B].parallel(i);
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[B].split(i, 0); }, {"split", "`i`", "positive"}));
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[B].tile(i, j, 4, 0); }, {"tile", "`j`", "positive"}));
  EXPECT_TRUE(s.warnings().empty());
}

}  // namespace
}  // namespace tenon::testing
