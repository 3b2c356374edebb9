// Checks attach points of stages, and how much of the stages is computed there.
#include <gtest/gtest.h>

#include "tenon/inspect/bounds_report.h"
#include "tenon/te/reduce.h"
#include "tenon/te/warnings.h"
#include "tenon/tir/print.h"
#include "tests/common/occurrences.h"
#include "tests/common/refusal.h"
#include "tests/common/run_schedule.h"
#include "tests/common/ways_to_run.h"

namespace tenon::te {
namespace {

using tenon::testing::refuses;

/// f is read at c and at 3.
struct Shadowed : ::testing::Test {
  Tensor f = compute(
      {4, 16}, {"c", "x"}, [](Var c, Var x) { return x + c * 1000; }, "f");
  Tensor g = compute(
      {4, 16}, {"c", "x"}, [&](Var c, Var x) { return f(c, x) + f(3, x); }, "g");
  Schedule s = create_schedule(g);
};

TEST_F(Shadowed, ABoundMakesAVaryingExtentConstant) {
  s[f].compute_at(s[g], s[g].axis(0)).bound(s[f].axis(0), {0, 4}).unroll(s[f].axis(0));
  const Bounds bounds = infer_bound(s);
  EXPECT_EQ(tir::constant_int(bounds[s[f].axis(0)].extent), 4);
  EXPECT_EQ(tenon::testing::compare_with_default(s, {g}), "");
}

TEST_F(Shadowed, ABoundThatReadersLeaveIsRefused) {
  s[f].compute_at(s[g], s[g].axis(0)).bound(s[f].axis(0), {0, 3});
  EXPECT_TRUE(refuses<BoundError>([&] { infer_bound(s); }, {"bound", "`c`", "`f`", "0 to 2"}));
}

TEST_F(Shadowed, ABoundLiesInsideOfTheAxis) {
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        s[f].bound(s[f].axis(0), {0, 5});
      },
      {"bound", "`c`", "`f`", "5"}));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        s[g].bound(s[g].axis(0), {0, 4});
      },
      {"bound", "`g`", "output"}));
}

TEST(ComputeAt, ALoopOfAReductionDoesNotContainItsInit) {
  Tensor A = placeholder({4}, "A", Int(32));
  Tensor B = compute(
      {4}, {"i"}, [&](Var i) { return A(i) + 1; }, "B");
  IterVar k = reduce_axis({0, 5}, "k");
  Tensor C = compute(
      {3}, {"i"}, [&](Var i) { return sum(B(i) * 2, {k}, {.init = {B(i + 1)}}); }, "C");
  Schedule s = create_schedule(C);
  s[B].compute_at(s[C], k);
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(s, {A, C});
      },
      {"compute_at", "`B`", "`k`", "in the init of its reduction",
       "it could be computed at `i` of stage `C`, or root"}));
  s[B].compute_at(s[C], s[C].axis(0));
  EXPECT_EQ(tenon::testing::compare_with_default(s, {A, C}), "");
}

TEST(Inlining, TakesStagesOfSeveralOutputs) {
  Tensor A = placeholder({16}, "A");
  const std::vector<Tensor> T = compute_multi(
      {16}, {"i"},
      [&](Var i) {
        return std::vector<Expr>{A(i) + 1.0f, A(i) * 2.0f};
      },
      "T");
  Tensor C = compute(
      {16}, {"i"}, [&](Var i) { return T[0](i) - T[1](15 - i); }, "C");
  Schedule s = create_schedule(C);
  s[T[0]].compute_inline();
  EXPECT_EQ(freeze(s).size(), 2u);
  EXPECT_EQ(testing::run(s, {A, C}), testing::run(create_schedule(C), {A, C}));
}

TEST(Inlining, IsUndoneByComputeAtWithAWarning) {
  Tensor A = placeholder({16}, "A");
  Tensor B = compute(
      {16}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  Tensor C = compute(
      {16}, {"i"}, [&](Var i) { return B(i) * 2.0f; }, "C");
  Schedule s = create_schedule(C);
  s[B].compute_inline();
  EXPECT_TRUE(s.warnings().empty());
  s[B].compute_at(s[C], s[C].axis(0));
  ASSERT_EQ(s.warnings().size(), 1u);
  EXPECT_NE(s.warnings()[0].find("`B`: it was to be computed inline"), std::string::npos);
}

TEST(ForeignOperations, AreNamedWithTheDeclarationOfTheirNamesake) {
  const auto make = [] {
    return compute(
        {4}, {"i"}, [](Var i) { return i; }, "C");
  };
  Tensor mine = make(), other = make();
  Schedule s = create_schedule(mine);
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[other].compute_root(); },
                                     {"`C` is not part of this schedule", "another operation",
                                      "declared at", "placement_test.cpp"}));
}

TEST(ForeignOperations, PlaceholdersHaveNoAxes) {
  Tensor A = placeholder({4}, "A");
  Tensor B = compute(
      {4}, {"i"}, [&](Var i) { return A(i); }, "B");
  Schedule s = create_schedule(B);
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[A].axis(0); }, {"`A`", "placeholder", "0 data axes"}));
}

/// Threads that share memory would wait for each other in a loop that some of them leave early.
TEST(SharedMemory, IsNotFilledInALoopThatThreadsRunDifferentlyOften) {
  Tensor A = placeholder({4, 4}, "A");
  Tensor B = compute(
      {4, 4}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  Tensor C = compute(
      {4}, {"i"},
      [&](Var i) {
        IterVar k = reduce_axis({0, i + 1}, "k");
        return sum(B(i, k), {k});
      },
      "C");
  Schedule s = create_schedule(C);
  s[C].bind(s[C].axis(0), thread_axis("threadIdx.x"));
  s[B].compute_at(s[C], s[C].reduce_axis(0)).set_scope("shared");
  EXPECT_TRUE(refuses<BoundError>([&] { infer_bound(s); },
                                  {"compute_at", "`B`", "`threadIdx.x`", "`k`", "`C`"}));
  s[B].set_scope("local");
  EXPECT_EQ(testing::run(s, {A, C}), testing::run(create_schedule(C), {A, C}));
}

// ---- only what is needed is computed ------------------------------------------------------------

std::vector<std::string> warnings_of(const Schedule& s) {
  const StageGraph graph = freeze(s);
  return pending_warnings(s, graph, infer_bound(graph));
}

/// Evaluations for each element of the stage.
double computed(const Schedule& s, const std::string& stage) {
  for (const BoundsReport::Row& row : bounds_report(s).rows)
    if (row.stage == stage) return row.counts->computed();
  return 0;
}

TEST(Skipping, AStageThatIsReadUnderAConditionOfTheCallIsGuardedByIt) {
  Var n("n");
  Tensor A = placeholder({8}, "A");
  Tensor X = compute(
      {8}, {"i"}, [&](Var i) { return exp(A(i)); }, "X");
  Tensor Y = compute(
      {8}, {"i"}, [&](Var i) { return X(i) + 1.0f; }, "Y");
  Tensor B = compute(
      {8}, {"i"}, [&](Var i) { return if_then_else(n > 3, Y(i), A(i)); }, "B");
  const Schedule s = create_schedule(B);
  const std::string text = print_stmt(schedule_ops(s, infer_bound(s)));
  EXPECT_EQ(tenon::testing::count_of(text, "if (n"), 2u) << text;
  EXPECT_EQ(tenon::testing::compare_with_default(create_schedule(B), {n, A, B}), "");
}

TEST(Skipping, IsNotPartOfTvmText) {
  Var flag("flag", Bool());
  Tensor A = placeholder({8}, "A");
  Tensor X = compute(
      {8}, {"i"}, [&](Var i) { return exp(A(i)); }, "X");
  Tensor B = compute(
      {8}, {"i"}, [&](Var i) { return if_then_else(flag, X(i), A(i)); }, "B");
  const auto text_of = [&](bool simple_mode) {
    std::ostringstream text;
    text << lower(create_schedule(B), {flag, A, B}, {.simple_mode = simple_mode});
    return text.str();
  };
  EXPECT_NE(text_of(false).find("if flag"), std::string::npos);
  EXPECT_EQ(text_of(true).find("if flag"), std::string::npos);
}

TEST(Skipping, AStageThatIsReadOtherwiseTooIsAlwaysComputed) {
  Var flag("flag", Bool());
  Tensor A = placeholder({8}, "A");
  Tensor X = compute(
      {8}, {"i"}, [&](Var i) { return exp(A(i)); }, "X");
  Tensor B = compute(
      {8}, {"i"}, [&](Var i) { return if_then_else(flag, X(i), A(i)) + X(7 - i); }, "B");
  const Schedule s = create_schedule(B);
  EXPECT_EQ(print_stmt(schedule_ops(s, infer_bound(s))).find("if flag"), std::string::npos);
}

TEST(Skipping, AStageThatIsReadUnderAConditionOfAnAxisIsAlwaysComputed) {
  Tensor A = placeholder({8}, "A");
  Tensor X = compute(
      {8}, {"i"}, [&](Var i) { return exp(A(i)); }, "X");
  Tensor B = compute(
      {8}, {"i"}, [&](Var i) { return if_then_else(i >= 3, X(i - 3), A(i)); }, "B");
  Schedule s = create_schedule(B);
  s[X].compute_at(s[B], s[B].axis(0));
  EXPECT_EQ(tenon::testing::compare_with_default(s, {A, B}), "");
}

TEST(RollingBuffer, KeepsAWindowThatMovesBackwards) {
  Tensor g = compute(
      {102}, {"x"}, [](Var x) { return x * 3; }, "g");
  Tensor f = compute(
      {10}, {"x"}, [&](Var x) { return g(100 - x) + g(101 - x); }, "f");
  Schedule s = create_schedule(f);
  s[g].compute_at(s[f], s[f].axis(0)).rolling_buffer();
  int stores = 0;
  std::vector<std::int32_t> result(10);
  tir::evaluate(lower(s, {f}).functions.at("main"),
                std::vector<tir::HostValue>{tir::HostArray{result.data(), Int(32), {10}}},
                {.on_access = [&](const tir::Access& access) {
                  stores += access.is_write && access.buffer->name == "g";
                }});
  EXPECT_EQ(stores, 11);
  EXPECT_TRUE(warnings_of(s).empty());
  EXPECT_EQ(tenon::testing::compare_with_default(s, {f}), "");
}

TEST(Scans, AreComputedForATileWithTheirInitialState) {
  const int T = 6, W = 32;
  Tensor in = placeholder({T, W}, "in"), state = placeholder({T, W}, "state");
  Tensor init = compute(
      {1, W}, {"t", "x"}, [&](Var, Var x) { return in(0, x); }, "init");
  Tensor update = compute(
      {T, W}, {"t", "x"}, [&](Var t, Var x) { return state(t - 1, x) * 2.0f + in(t, x); },
      "update");
  Tensor sums = scan(init, update, state, {in}, "sums");
  Tensor out = compute(
      {T, W}, {"t", "x"}, [&](Var t, Var x) { return sums(t, x) + 1.0f; }, "out");
  Schedule s = create_schedule(out);
  const auto [xo, xi] = s[out].split(s[out].axis(1), 8);
  s[out].reorder(xo, s[out].axis(0), xi);
  s[sums].compute_at(s[out], xo);
  EXPECT_EQ(computed(s, "sums"), 1);
  EXPECT_TRUE(warnings_of(s).empty());
  EXPECT_EQ(testing::run(s, {in, out}), testing::run(create_schedule(out), {in, out}));
}

struct Blur : ::testing::Test {
  Tensor A = placeholder({34}, "A");
  Tensor B = compute(
      {34}, {"x"}, [&](Var x) { return A(x) * 2.0f; }, "B");
  Tensor C = compute(
      {32}, {"x"}, [&](Var x) { return B(x) + B(x + 1) + B(x + 2); }, "C");
  Schedule s = create_schedule(C);
};

TEST_F(Blur, RecomputationIsAWarningThatNamesTheStageAndTheFactor) {
  s[B].compute_at(s[C], s[C].axis(0));
  const std::vector<std::string> warnings = warnings_of(s);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("`B`: each of its elements is computed 2.8 times"), std::string::npos)
      << warnings[0];
  EXPECT_NE(warnings[0].find("rolling_buffer"), std::string::npos);
}

TEST_F(Blur, TheOverlapOfTilesAndWhatARollingBufferKeepsAreNoRecomputation) {
  const auto [outer, inner] = s[C].split(s[C].axis(0), 8);
  s[B].compute_at(s[C], outer);
  EXPECT_TRUE(warnings_of(s).empty());
  s[B].compute_at(s[C], inner).rolling_buffer();
  EXPECT_TRUE(warnings_of(s).empty()) << warnings_of(s)[0];
}

TEST(Tiles, ThatExceedTheResultAreNoRecomputation) {
  Tensor A = placeholder({7, 9}, "A");
  Tensor C = compute(
      {7, 9}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "C");
  Schedule s = create_schedule(C);
  const Tensor local = s.cache_write(C, "local");
  // 2 x 2 tiles have 128 elements, of which 63 exist.
  const auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 8);
  s[local].compute_at(s[C], jo);
  EXPECT_EQ(warnings_of(s), std::vector<std::string>{});
}

TEST(Strides, ThatSkipElementsAreAWarning) {
  Tensor A = placeholder({64}, "A");
  Tensor B = compute(
      {64}, {"x"}, [&](Var x) { return A(x) * 2.0f; }, "B");
  Tensor C = compute(
      {16}, {"x"}, [&](Var x) { return B(x * 4); }, "C");
  Schedule s = create_schedule(C);
  const std::vector<std::string> warnings = warnings_of(s);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("`B`: 3.8 elements are computed for each that is read"),
            std::string::npos)
      << warnings[0];
  Tensor D = compute(
      {16}, {"x"}, [&](Var x) { return B(x * 4) + B(x * 4 + 1) + B(x * 4 + 2); }, "D");
  EXPECT_TRUE(warnings_of(create_schedule(D)).empty());
}

TEST(Strides, ThatSkipFewElementsOfEachDimensionNameAll) {
  Tensor A = placeholder({16, 16}, "A");
  Tensor B = compute(
      {16, 16}, {"x", "y"}, [&](Var x, Var y) { return A(x, y) * 2.0f; }, "B");
  // 10 of the rows and columns 0 to 15.
  Tensor C = compute(
      {10, 10}, {"x", "y"}, [&](Var x, Var y) { return B(floordiv(x * 5, 3), floordiv(y * 5, 3)); },
      "C");
  const std::vector<std::string> warnings = warnings_of(create_schedule(C));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("skip elements of dimension 0, 1;"), std::string::npos) << warnings[0];
}

// ---- in place -----------------------------------------------------------------------------------

TEST(InPlace, AnElementwiseOutputMayBeBoundToTheBufferOfItsInput) {
  Tensor A = placeholder({16}, "A");
  Tensor B = compute(
      {16}, {"i"}, [&](Var i) { return A(i) * 2.0f + A(i); }, "B");
  const tir::Buffer both = tir::decl_buffer({Expr(16)}, Float(32), {.name = "both"});
  const Schedule s = create_schedule(B);
  s[B].vectorize(s[B].split(s[B].axis(0), 4).inner);
  auto f = build(s, {both}, Target("llvm"), {.binds = {{A, both}, {B, both}}});
  auto x = runtime::NDArray::full({16}, Float(32), 3);
  f["main"](x);
  EXPECT_EQ(x.data<float>()[15], 9);
}

TEST(InPlace, OutputsAreStoredAfterAllOfThemAreComputed) {
  Tensor A = placeholder({10}, "A"), B = placeholder({10}, "B");
  const std::vector<Tensor> C = compute_multi(
      {10}, {"i"},
      [&](Var i) -> std::vector<Expr> {
        return {A(i) + B(i), A(i) - B(i)};
      },
      "C");
  const tir::Buffer a = tir::decl_buffer({Expr(10)}, Float(32), {.name = "a"}),
                    b = tir::decl_buffer({Expr(10)}, Float(32), {.name = "b"});
  const Schedule s = create_schedule(C[0]);
  s[C[0]].vectorize(s[C[0]].split(s[C[0]].axis(0), 4).inner);
  auto f = build(s, {a, b}, Target("llvm"), {.binds = {{A, a}, {B, b}, {C[0], a}, {C[1], b}}});
  auto x = runtime::NDArray::full({10}, Float(32), 3),
       y = runtime::NDArray::full({10}, Float(32), 1);
  f["main"](x, y);
  EXPECT_EQ(x.to_vector<float>(), std::vector<float>(10, 4));
  EXPECT_EQ(y.to_vector<float>(), std::vector<float>(10, 2));
}

TEST(InPlace, OtherReadsAreRefused) {
  Tensor A = placeholder({16}, "A");
  Tensor B = compute(
      {16}, {"i"}, [&](Var i) { return A(15 - i) * 2.0f; }, "B");
  Tensor C = compute(
      {16}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "C");
  Tensor D = compute(
      {16}, {"i"}, [&](Var i) { return C(i) + A(i); }, "D");
  const tir::Buffer both = tir::decl_buffer({Expr(16)}, Float(32), {.name = "both"});
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(create_schedule(B), {both}, {.binds = {{A, both}, {B, both}}});
      },
      {"binds", "`both`", "`B` reads other elements"}));
  EXPECT_TRUE(refuses<ScheduleError>(
      [&] {
        lower(create_schedule(D), {both}, {.binds = {{A, both}, {D, both}}});
      },
      {"binds", "`both`", "stage `C` reads `A` as well"}));
}

TEST(InPlace, AStageThatMayRecomputeElementsIsRefused) {
  Tensor A = placeholder({10}, "A");
  Tensor B = compute(
      {10}, {"i"}, [&](Var i) { return A(i) * 2.0f + 1.0f; }, "B");
  Tensor C = compute(
      {10}, {"i"}, [&](Var i) { return B(tir::max(i - 1, 0)) + B(i); }, "C");
  const tir::Buffer both = tir::decl_buffer({Expr(10)}, Float(32), {.name = "both"});
  const auto lowered = [&](const Schedule& s) {
    lower(s, {both, C}, {.binds = {{A, both}, {B, both}}});
  };
  const Schedule attached = create_schedule(C), rounded = create_schedule(C);
  attached[B].compute_at(attached[C], attached[C].axis(0));
  rounded[B].round_up(rounded[B].axis(0));
  EXPECT_TRUE(refuses<ScheduleError>([&] { lowered(attached); },
                                     {"binds", "`both`", "`B` is attached", "at root"}));
  EXPECT_TRUE(refuses<ScheduleError>([&] { lowered(rounded); },
                                     {"binds", "`both`", "`B` is rounded up", "at root"}));
}

}  // namespace
}  // namespace tenon::te
