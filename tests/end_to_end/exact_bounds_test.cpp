// Memory and work of stages where compilers of this kind take more than is touched: what is
// allocated and computed, and that the numbers stay right.
#include <gtest/gtest.h>

#include <sstream>

#include "tenon/te/bounds_report.h"
#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

te::BoundsReport::Counts counts_of(const te::Schedule& s, const std::string& stage,
                                   te::BoundsReportOptions options = {.exact = true}) {
  const te::BoundsReport report = te::bounds_report(s, options);
  for (const te::BoundsReport::Row& row : report.rows)
    if (row.stage == stage && row.counts) return *row.counts;
  throw std::runtime_error("nothing is counted of " + stage + ": " + report.not_counted);
}

/// The first difference of the loops of exact bounds and the default schedule; "" if they agree.
std::string compare_exact(const te::Schedule& s, const std::vector<te::Tensor>& tensors,
                          bool has_threads = false) {
  const std::vector<LowerArgument> args(tensors.begin(), tensors.end());
  const te::StageGraph graph = te::freeze(s);
  const tir::PrimFunc loops = te::schedule_ops(graph, te::infer_exact_bound(graph), args);
  const Arguments right = make_arguments(args);
  tir::evaluate(lower_to_loops(default_schedule(args), args), right.values);
  const tir::IRModule lowered = lower(loops);
  for (const tir::PrimFunc& func : {loops, lowered.functions.at("main")}) {
    const Arguments actual = make_arguments(args);
    tir::evaluate(func, actual.values, {.check_uninitialized = true});
    if (std::string wrong = first_difference(right, actual); !wrong.empty()) return wrong;
  }
  if (has_threads) return "";
  const Arguments compiled = make_arguments(args);
  run_compiled(build(lowered, Target("llvm"))["main"], compiled);
  return first_difference(right, compiled);
}

using Extents = std::vector<std::int64_t>;

// ---- indices that are data ----------------------------------------------------------------------

struct GatherTest : ::testing::Test {
  te::Tensor A = te::placeholder({20, 6}, "A");
  te::Tensor index = te::placeholder({10}, "index", Int(32));
  te::Tensor B = te::compute(
      {20, 6}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");

  Expr row(const Expr& i) const { return max(min(index(i), 19), 0); }
  te::Tensor C = te::compute(
      {10, 6}, {"i", "j"}, [&](Var i, Var j) { return B(row(i), j) + 1.0f; }, "C");

  void expect(const te::Schedule& s, Extents allocated, std::int64_t evaluations) const {
    const te::BoundsReport::Counts counts = counts_of(s, "B");
    EXPECT_EQ(counts.allocated, allocated);
    EXPECT_EQ(counts.used(), 1);
    EXPECT_EQ(counts.evaluations, evaluations);
    EXPECT_EQ(compare_exact(s, {A, index, C}), "");
  }
};

TEST_F(GatherTest, OnlyTheRowThatIsReadIsComputed) {
  te::Schedule s = te::create_schedule(C);
  s[B].compute_at(s[C], s[C].axis(0));
  expect(s, {1, 6}, 10 * 6);
}

TEST_F(GatherTest, OnlyTheElementThatIsReadIsComputed) {
  te::Schedule s = te::create_schedule(C);
  s[B].compute_at(s[C], s[C].axis(1));
  expect(s, {1, 1}, 10 * 6);
}

/// The loops around end at 12; the index has 10 elements.
TEST_F(GatherTest, LoopsBeyondTheEndReadNoIndexThere) {
  te::Schedule s = te::create_schedule(C);
  const auto [outer, inner] = s[C].split(s[C].axis(0), 4);
  s[B].compute_at(s[C], inner);
  const te::BoundsReport::Counts counts = counts_of(s, "B");
  EXPECT_EQ(counts.allocated, (Extents{1, 6}));
  EXPECT_EQ(compare_exact(s, {A, index, C}), "");
}

/// The iterations of a tile may read any rows.
TEST_F(GatherTest, RowsOfATileAreAllOfThem) {
  te::Schedule s = te::create_schedule(C);
  const auto [outer, inner] = s[C].split(s[C].axis(0), 5);
  s[B].compute_at(s[C], outer);
  EXPECT_EQ(counts_of(s, "B").allocated, (Extents{20, 6}));
  EXPECT_EQ(compare_exact(s, {A, index, C}), "");
}

/// Read under a condition, and outside of the tensor where that does not hold.
TEST_F(GatherTest, ARowThatIsNotThereIsNotComputed) {
  const te::Tensor D = te::compute(
      {10, 6}, {"i", "j"},
      [&](Var i, Var j) {
        return if_then_else(index(i) >= 0 && index(i) < 20, B(index(i), j), 0.0f);
      },
      "D");
  te::Schedule s = te::create_schedule(D);
  s[B].compute_at(s[D], s[D].axis(0));
  EXPECT_EQ(counts_of(s, "B").allocated, (Extents{1, 6}));
  EXPECT_EQ(compare_exact(s, {A, index, D}), "");
}

/// An index that is computed in the same loop may come later: nothing is known of it.
TEST_F(GatherTest, AnIndexThatIsComputedIsNotUsed) {
  const te::Tensor later = te::compute(
      {10}, {"i"}, [&](Var i) { return row(i); }, "later");
  const te::Tensor D = te::compute(
      {10, 6}, {"i", "j"}, [&](Var i, Var j) { return B(later(i), j); }, "D");
  te::Schedule s = te::create_schedule(D);
  s[B].compute_at(s[D], s[D].axis(0));
  s[later].compute_at(s[D], s[D].axis(1));
  EXPECT_EQ(counts_of(s, "B").allocated, (Extents{20, 6}));
  EXPECT_EQ(compare_exact(s, {A, index, D}), "");
}

TEST_F(GatherTest, ThreadsEachHaveTheirRow) {
  te::Schedule s = te::create_schedule(C);
  s[C].bind(s[C].axis(0), te::thread_axis("threadIdx.x"));
  s[B].compute_at(s[C], s[C].axis(0)).set_scope("local");
  EXPECT_EQ(counts_of(s, "B").allocated, (Extents{1, 6}));
  EXPECT_EQ(compare_exact(s, {A, index, C}, true), "");
}

// ---- tiles that go beyond the end ---------------------------------------------------------------

/// 7 tiles of 3 cover 21 of 20: what the last one does not compute, nothing is read for.
TEST(OvershootTest, ProducersOfTilesAreNotLongerThanTheirTensor) {
  te::Tensor A = te::placeholder({40}, "A");
  te::Tensor P = te::compute(
      {24}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "P");
  te::Tensor Q = te::compute(
      {20}, {"i"}, [&](Var i) { return P(i) * 2.0f; }, "Q");
  te::Tensor R = te::compute(
      {20}, {"i"}, [&](Var i) { return Q(i) - 1.0f; }, "R");
  te::Schedule s = te::create_schedule(R);
  const auto [outer, inner] = s[R].split(s[R].axis(0), 3);
  s[Q].compute_at(s[R], outer);
  EXPECT_EQ(counts_of(s, "P").allocated, Extents{20});
  EXPECT_EQ(counts_of(s, "P").used(), 1);
  // TVM 0.9 text allocates 21.
  EXPECT_EQ(counts_of(s, "P", {}).allocated, Extents{21});
  EXPECT_EQ(compare_exact(s, {A, R}), "");
}

/// Three layers of padding around a tile of 56 are 62 elements, of a tensor of 58.
TEST(PaddedTilesTest, AreNotLongerThanTheirTensor) {
  te::Tensor A = te::placeholder({58}, "A");
  te::Tensor layer = A;
  for (int n = 0; n < 3; ++n) {
    te::Tensor P = te::compute(
        {60}, {"i"}, [&](Var i) { return if_then_else(i >= 1 && i < 59, layer(i - 1), 0.0f); },
        "P" + std::to_string(n));
    te::IterVar r = te::reduce_axis({0, 3}, "r");
    layer = te::compute(
        {58}, {"i"}, [&](Var i) { return te::sum(P(i + r), {r}); }, "L" + std::to_string(n));
  }
  te::Schedule s = te::create_schedule(layer);
  const auto [outer, inner] = s[layer].split(s[layer].axis(0), 56);
  for (const te::Stage& stage : s.stages())
    if (!stage.op().as<te::Placeholder>() && !stage.op().same_as(layer.op()))
      stage.compute_at(s[layer], outer);
  for (const char* stage : {"L0", "L1"})
    EXPECT_EQ(counts_of(s, stage).allocated, Extents{58}) << stage;
  EXPECT_EQ(counts_of(s, "P0").allocated, Extents{60});
  EXPECT_EQ(compare_exact(s, {A, layer}), "");
}

/// Tiles of 8 x 8 of a stencil of radius 1, on an input padded by 3: shared memory holds 10 x 10.
TEST(PaddedTilesTest, TheHaloOfAPaddedInputIsWhatIsShared) {
  te::Tensor A = te::placeholder({26, 26}, "A");
  te::Tensor P = te::compute(
      {32, 32}, {"y", "x"},
      [&](Var y, Var x) {
        return if_then_else(y >= 3 && y < 29 && x >= 3 && x < 29, A(y - 3, x - 3), 0.0f);
      },
      "P");
  te::IterVar r = te::reduce_axis({0, 3}, "r"), q = te::reduce_axis({0, 3}, "q");
  te::Tensor B = te::compute(
      {30, 30}, {"y", "x"},
      [&](Var y, Var x) {
        return te::sum(P(y + r, x + q), {r, q});
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  s[P].compute_inline();
  te::Tensor shared = s.cache_read(P, "shared", {B.op()});
  const auto [yo, xo, yi, xi] = s[B].tile(s[B].axis(0), s[B].axis(1), 8, 8);
  s[B].bind(yo, te::thread_axis("blockIdx.y")).bind(xo, te::thread_axis("blockIdx.x"));
  s[B].bind(yi, te::thread_axis("threadIdx.y")).bind(xi, te::thread_axis("threadIdx.x"));
  s[shared].compute_at(s[B], xo);
  EXPECT_EQ(counts_of(s, "P.shared").allocated, (Extents{10, 10}));
  EXPECT_EQ(counts_of(s, "P.shared", {}).allocated, (Extents{10, 10}));
  EXPECT_EQ(compare_exact(s, {A, B}, true), "");
}

/// 3 tiles of 4 steps are 12, of 10 that there are: a producer of them is computed 10 times.
TEST(OvershootTest, AProducerIsComputedForTheStepsThatThereAre) {
  te::Tensor A = te::placeholder({10}, "A");
  te::Tensor P = te::compute(
      {10}, {"k"}, [&](Var k) { return A(k) + 1.0f; }, "P");
  te::IterVar k = te::reduce_axis({0, 10}, "k");
  te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var) { return te::sum(P(k), {k}); }, "B");
  for (const int factor : {3, 4, 7, 9}) {
    te::Schedule s = te::create_schedule(B);
    const auto [outer, inner] = s[B].split(k, factor);
    s[P].compute_at(s[B], outer);
    EXPECT_EQ(counts_of(s, "P").evaluations, 10) << factor;
    EXPECT_EQ(counts_of(s, "P", {}).evaluations, 10) << factor;
    EXPECT_EQ(compare_exact(s, {A, B}), "") << factor;
  }
}

/// 6 parts of 4 of 19, of which the loop inside stands around: 0, 4, ..., 16 lie within 17,
/// whatever it starts at, and 20 is nowhere an element.
TEST(OvershootTest, IterationsAreIdleWhateverTheLoopsAroundDo) {
  te::Tensor A = te::placeholder({19}, "A");
  te::Tensor B = te::compute(
      {19}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {19}, {"i"}, [&](Var i) { return B(i) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  const auto [outer, inner] = s[C].split_by_nparts(s[C].axis(0), 6);
  s[C].reorder({inner, outer});
  s[B].compute_at(s[C], inner);
  EXPECT_EQ(counts_of(s, "B").allocated, Extents{17});
  EXPECT_EQ(counts_of(s, "B").used(), 1);
  EXPECT_EQ(compare_exact(s, {A, C}), "");
}

/// Computes one element of C in each of fourteen iterations, of which the last four are beyond the
/// end of D. C has `rows` rows. Expects that `read` elements of B are allocated.
void expect_read_beside_rows(int rows, const std::function<std::pair<Expr, Expr>(Var)>& element,
                             std::int64_t read) {
  te::Tensor A = te::placeholder({60}, "A");
  te::Tensor B = te::compute(
      {60}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {rows, 60}, {"i", "j"}, [&](Var, Var j) { return B(j) * 2.0f; }, "C");
  te::Tensor D = te::compute(
      {10}, {"i"},
      [&](Var i) {
        const auto [row, column] = element(i);
        return C(row, column);
      },
      "D");
  te::Schedule s = te::create_schedule(D);
  const auto [outer, inner] = s[D].split(s[D].axis(0), 7);
  s[C].compute_at(s[D], inner);
  EXPECT_EQ(counts_of(s, "B").allocated, Extents{read});
  EXPECT_EQ(counts_of(s, "B").used(), 1);
  EXPECT_EQ(compare_exact(s, {A, D}), "");
}

/// The loops make 14 iterations; C has a row in the first eleven only.
TEST(OvershootTest, ARegionEndsWithTheGuardedAxisItFollows) {
  expect_read_beside_rows(
      11, [](Var i) { return std::pair(i + 0, i + 3); }, 11);
}

/// Every third row, the last one of 35 is the 33rd: 0 to 33.
TEST(OvershootTest, AnAxisEndsAtTheLastOfItsSteps) {
  expect_read_beside_rows(
      35, [](Var i) { return std::pair(3 * i, 3 * i + 3); }, 34);
}

/// Two rows for one column: with the last of 21 rows ends the 11th column.
TEST(OvershootTest, AnAxisThatGoesInSmallerStepsEndsWithTheOther) {
  expect_read_beside_rows(
      21, [](Var i) { return std::pair(2 * i, i + 3); }, 11);
}

/// The last of 11 rows has the first column that is read.
TEST(OvershootTest, AnAxisThatGoesBackwardsBeginsWhereTheOtherEnds) {
  expect_read_beside_rows(
      11, [](Var i) { return std::pair(i + 0, 20 - i); }, 11);
}

/// C is computed for the hull of two elements, neither of which is always the first.
TEST(OvershootTest, TheHullOfTwoReadsEndsWhereTheyEnd) {
  te::Tensor A = te::placeholder({40}, "A");
  te::Tensor B = te::compute(
      {40}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {30}, {"i"}, [&](Var i) { return B(i) * 2.0f; }, "C");
  te::Tensor D = te::compute(
      {9, 19}, {"i", "j"}, [&](Var i, Var j) { return C(20 - j) + C(i + 1); }, "D");
  te::Schedule s = te::create_schedule(D);
  s[C].compute_at(s[D], s[D].fuse(s[D].axis(0), s[D].axis(1)));
  // From i == 0 to j == 0.
  EXPECT_EQ(counts_of(s, "B").allocated, Extents{20});
  EXPECT_EQ(compare_exact(s, {A, D}), "");
}

// ---- rows of fused loops ------------------------------------------------------------------------

/// (12, 6) as one loop, in tiles: 12 elements are two whole rows, 3 half of one, and 10 may lie in
/// three rows.
TEST(FusedTilesTest, AreTheRowsThatTheyTouch) {
  const std::map<int, Extents> expected = {{12, {2, 6}}, {3, {1, 3}}, {6, {1, 6}}, {10, {3, 6}}};
  for (const auto& [factor, rows] : expected) {
    te::Tensor A = te::placeholder({12, 6}, "A");
    te::Tensor B = te::compute(
        {12, 6}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
    te::Tensor C = te::compute(
        {12, 6}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * 2.0f; }, "C");
    te::Schedule s = te::create_schedule(C);
    const auto [outer, inner] = s[C].split(s[C].fuse(s[C].axis(0), s[C].axis(1)), factor);
    s[B].compute_at(s[C], outer);
    EXPECT_EQ(counts_of(s, "B").allocated, rows) << factor;
    EXPECT_EQ(counts_of(s, "B").used(), 1) << factor;
    EXPECT_EQ(compare_exact(s, {A, C}), "") << factor;
  }
}

/// Split by 7 and fused again, it is one loop, whose tiles of 8 need 8.
TEST(FusedTilesTest, WhatIsSplitAndFusedAgainHasNoRows) {
  te::Tensor A = te::placeholder({20}, "A");
  te::Tensor B = te::compute(
      {20}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {20}, {"i"}, [&](Var i) { return B(i) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  const auto [rows, columns] = s[C].split(s[C].axis(0), 7);
  const auto [outer, inner] = s[C].split(s[C].fuse(rows, columns), 8);
  s[B].compute_at(s[C], outer);
  EXPECT_EQ(counts_of(s, "B").allocated, Extents{8});
  EXPECT_EQ(counts_of(s, "B").used(), 1);
  EXPECT_EQ(compare_exact(s, {A, C}), "");
}

// ---- as an option -------------------------------------------------------------------------------

/// 7 tiles of 3 cover 21 of 20 elements: exact bounds keep 20.
TEST(ExactOptionTest, LowerAndBuildTakeIt) {
  te::Tensor A = te::placeholder({40}, "A");
  te::Tensor P = te::compute(
      {24}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "P");
  te::Tensor Q = te::compute(
      {20}, {"i"}, [&](Var i) { return P(i) * 2.0f; }, "Q");
  te::Tensor R = te::compute(
      {20}, {"i"}, [&](Var i) { return Q(i) - 1.0f; }, "R");
  te::Schedule s = te::create_schedule(R);
  const auto [outer, inner] = s[R].split(s[R].axis(0), 3);
  s[Q].compute_at(s[R], outer);
  const auto text = [&](Bounds bounds) {
    std::ostringstream out;
    out << lower(s, {A, R}, {.simple_mode = true, .bounds = bounds});
    return out.str();
  };
  EXPECT_NE(text(Bounds::Default).find("[21]"), std::string::npos) << text(Bounds::Default);
  EXPECT_EQ(text(Bounds::Exact).find("[21]"), std::string::npos) << text(Bounds::Exact);
  EXPECT_NE(text(Bounds::Exact).find("[20]"), std::string::npos) << text(Bounds::Exact);
  EXPECT_EQ(
      compare_with_default(
          s, {A, R}, {.interpret = false, .build = {.bounds = Bounds::Exact, .opt_level = 1}}),
      "");
}

// ---- positions at the end of int32 --------------------------------------------------------------

TEST(ExactBoundsAtTheEndOfInt32, IterationsOfTilesThatOverrunItAreNotIdle) {
  te::Tensor A = te::placeholder({33}, "A");
  te::Tensor B = te::compute(
      {33}, {"i"}, [&](Var i) { return A(i) + 1; }, "B");
  te::Tensor C = te::compute(
      {2147483647}, {"i"}, [&](Var i) { return B(floormod(i, 33)); }, "C");
  te::Tensor D = te::compute(
      {16}, {"i"}, [&](Var i) { return C(i + 2147483631); }, "D");
  te::Schedule s = te::create_schedule(D);
  const te::Tensor local = s.cache_write(C, "local");
  s[local].compute_at(s[C], s[C].split(s[C].axis(0), 6).outer);
  EXPECT_EQ(compare_exact(s, {A, D}), "");
}

TEST(ExactBoundsAtTheEndOfInt32, PositionsInTilesOfFarRowsDoNotOverflow) {
  te::Tensor A = te::placeholder({33, 5}, "A");
  te::Tensor B = te::compute(
      {2147483646, 5}, {"i", "j"}, [&](Var i, Var j) { return A(floormod(i, 33), j) + 1; }, "B");
  te::Tensor C = te::compute(
      {16, 5}, {"i", "j"}, [&](Var i, Var j) { return B(i + 2147483630, j) * 2; }, "C");
  te::Schedule s = te::create_schedule(C);
  const te::Tensor local = s.cache_write(B, "local");
  s[B].compute_at(s[C], s[C].split(s[C].axis(0), 7).outer);
  s[local].compute_at(s[B], s[B].split(s[B].axis(0), 5).outer);
  EXPECT_EQ(compare_exact(s, {A, C}), "");
}

}  // namespace
}  // namespace tenon::testing
