// Inferred bounds of stages, compared with the elements that programs touch.

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tenon/inspect/bounds_report.h"
#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/tir/walk.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- exact bounds -------------------------------------------------------------------------------

// Memory and work of stages where compilers of this kind take more than is touched: what is
// allocated and computed, and that the numbers stay right.

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

// ---- touched and inferred memory ----------------------------------------------------------------

// Compares touched memory with inferred memory: a stage's memory is never smaller than what its
// readers read (the interpreter refuses such a read), and not larger if all indices are affine.

struct Memory {
  std::int64_t allocated = 0;
  /// Elements, at their places in the flat memory, that are ever read.
  std::set<std::int64_t> read;
};

/// The memory of each stage that has its own.
std::map<std::string, Memory> memory_of(const te::Schedule& s,
                                        const std::vector<LowerArgument>& args) {
  LowerOptions options{.simple_mode = true};
  options.passes.disable_storage_rewrite = true;
  const tir::PrimFunc func = lower(s, args, options).functions.at("main");
  std::map<std::string, Memory> memory;
  tir::walk(func.body, [&](const tir::Allocate& allocate) {
    std::int64_t size = 1;
    for (const Expr& extent : allocate.extents)
      size *= tir::evaluate_int(extent, [](const Var&) { return 1; });
    memory[allocate.data.name()].allocated += size;
  });
  const Arguments a = make_arguments(args);
  tir::EvaluateOptions evaluation;
  evaluation.on_access = [&](const tir::Access& access) {
    auto found = memory.find(access.buffer->name);
    if (found != memory.end() && !access.is_write) found->second.read.insert(access.indices[0]);
  };
  tir::evaluate(func, a.values, evaluation);
  return memory;
}

/// The stage's box by its root axes' ranges.
std::int64_t inferred_elements(const te::Schedule& s, const te::Tensor& t) {
  const te::Schedule normal = s.normalize();
  const te::Bounds bounds = te::infer_bound(normal);
  std::int64_t elements = 1;
  for (const te::IterVar& axis : normal[t].op().axis())
    elements *=
        tir::evaluate_int(bounds[axis].extent, [](const Var&) -> std::int64_t { return 0; });
  return elements;
}

void expect_tight(const te::Schedule& s, const std::vector<LowerArgument>& args,
                  const te::Tensor& t) {
  const auto memory = memory_of(s, args);
  const auto found = memory.find(t.name());
  ASSERT_NE(found, memory.end()) << t.name();
  EXPECT_EQ(static_cast<std::int64_t>(found->second.read.size()), found->second.allocated)
      << t.name();
  EXPECT_EQ(inferred_elements(s, t), found->second.allocated) << t.name();
}

struct StencilTest : ::testing::Test {
  te::Tensor A = te::placeholder({40, 40}, "A");
  te::Tensor B = te::compute(
      {40, 40}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {36, 38}, {"i", "j"},
      [&](Var i, Var j) { return B(i, j) + B(i + 4, j + 2) + B(i + 2, j + 1); }, "C");
  te::Schedule s = te::create_schedule(C);
};

TEST_F(StencilTest, RowsPerRow) {
  s[B].compute_at(s[C], s[C].axis(0));
  // The rows that are read are three of five: a box has the others too.
  EXPECT_EQ(memory_of(s, {A, C}).at("B").allocated, 5 * 40);
}

TEST_F(StencilTest, ElementsPerElementAreABox) {
  s[B].compute_at(s[C], s[C].axis(1));
  EXPECT_EQ(memory_of(s, {A, C}).at("B").allocated, 5 * 3);
}

TEST_F(StencilTest, TilesWithTheirHalo) {
  for (int factor : {1, 4, 6, 7, 36}) {
    te::Schedule t = te::create_schedule(C);
    const auto tiles = t[C].tile(t[C].axis(0), t[C].axis(1), factor, 38);
    t[B].compute_at(t[C], tiles.y_outer);
    const std::int64_t rows = factor + 4;
    const Memory memory = memory_of(t, {A, C}).at("B");
    EXPECT_EQ(memory.allocated, rows * 40) << factor;
    // A tile as high as the stencil leaves no row of the box unread.
    if (factor < 4) continue;
    EXPECT_GE(static_cast<std::int64_t>(memory.read.size()), rows * 38) << factor;
  }
}

struct AffineTest : ::testing::Test {
  te::Tensor A = te::placeholder({48, 48}, "A");
  te::Tensor B = te::compute(
      {48, 48}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");

  /// Reads B at what the function gives, at the loop of the given number of a 24 x 24 consumer
  /// tiled by 6 and 5.
  void expect_tight_at(int loop, const std::function<Expr(Var, Var)>& read) {
    te::Tensor C = te::compute(
        {24, 24}, {"i", "j"}, [&](Var i, Var j) { return read(i, j); }, "C");
    te::Schedule s = te::create_schedule(C);
    s[C].tile(s[C].axis(0), s[C].axis(1), 6, 5);
    s[B].compute_at(s[C], s[C].leaf_iter_vars()[static_cast<std::size_t>(loop)]);
    expect_tight(s, {A, C}, B);
    EXPECT_EQ(compare_with_default(s, {A, C}, {.compile = false}), "");
  }
};

TEST_F(AffineTest, SameElement) {
  for (int loop : {0, 1, 2, 3}) expect_tight_at(loop, [&](Var i, Var j) { return B(i, j); });
}

TEST_F(AffineTest, Transposed) {
  for (int loop : {0, 1, 2, 3}) expect_tight_at(loop, [&](Var i, Var j) { return B(j, i + 3); });
}

TEST_F(AffineTest, Reversed) {
  for (int loop : {0, 1, 2, 3})
    expect_tight_at(loop, [&](Var i, Var j) { return B(Expr(23) - i, j); });
}

TEST_F(AffineTest, Neighbours) {
  for (int loop : {0, 1, 2, 3})
    expect_tight_at(
        loop, [&](Var i, Var j) { return B(i, j) + B(i + 1, j) + B(i, j + 1) + B(i + 1, j + 1); });
}

TEST_F(AffineTest, RowsOfPairs) {
  for (int loop : {0, 1, 2, 3})
    expect_tight_at(loop, [&](Var i, Var j) { return B(i * 2, j) + B(i * 2 + 1, j); });
}

TEST_F(AffineTest, Halved) {
  for (int loop : {0, 1}) expect_tight_at(loop, [&](Var i, Var j) { return B(floordiv(i, 2), j); });
}

// ---- padding ------------------------------------------------------------------------------------

/// Each layer pads by one and sums three neighbours: nothing may grow from layer to layer.
TEST(PaddingTest, ChainsDoNotGrow) {
  te::Tensor A = te::placeholder({58}, "A");
  te::Tensor layer = A;
  std::vector<te::Tensor> padded;
  for (int n = 0; n < 3; ++n) {
    te::Tensor P = te::compute(
        {60}, {"i"}, [&](Var i) { return if_then_else(i >= 1 && i < 59, layer(i - 1), 0.0f); },
        "P" + std::to_string(n));
    te::IterVar r = te::reduce_axis({0, 3}, "r");
    layer = te::compute(
        {58}, {"i"}, [&](Var i) { return te::sum(P(i + r), {r}); }, "L" + std::to_string(n));
    padded.push_back(P);
  }
  te::Schedule s = te::create_schedule(layer);
  const auto memory = memory_of(s, {A, layer});
  for (const te::Tensor& P : padded) EXPECT_EQ(memory.at(P.name()).allocated, 60) << P.name();
  EXPECT_EQ(memory.at("L0").allocated, 58);
  EXPECT_EQ(memory.at("L1").allocated, 58);
  EXPECT_EQ(compare_with_default(s, {A, layer}), "");
}

TEST(PaddingTest, ClampedIndicesStayInside) {
  te::Tensor A = te::placeholder({20}, "A");
  te::Tensor B = te::compute(
      {20}, {"i"}, [&](Var i) { return A(i) * 2.0f; }, "B");
  te::Tensor C = te::compute(
      {20}, {"i"}, [&](Var i) { return B(max(i - 2, 0)) + B(min(i + 2, 19)); }, "C");
  te::Schedule s = te::create_schedule(C);
  const auto [outer, inner] = s[C].split(s[C].axis(0), 6);
  s[B].compute_at(s[C], outer);
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
  EXPECT_LE(memory_of(s, {A, C}).at("B").allocated, 20);
}

// ---- instrumented bounds ------------------------------------------------------------------------

// Code that checks every access: right programs run as they do without, wrong ones stop before they
// read.

const BuildOptions kInstrumented = {.instrument_bounds = true, .opt_level = 1};

TEST(InstrumentedTest, RanksOfZero) {
  te::Tensor a = te::placeholder({}, "a"), K = te::placeholder({10}, "K");
  te::IterVar k = te::reduce_axis({0, 10}, "k");
  te::Tensor S = te::compute(
      {}, {}, [&] { return te::sum(K(k) * a(), {k}); }, "S");
  te::Tensor T = te::compute(
      {}, {}, [&] { return S() + a(); }, "T");
  EXPECT_EQ(compare_with_default(te::create_schedule(T), {a, K, T}, {.build = kInstrumented}), "");
}

TEST(InstrumentedTest, TilesCachesAndVectorsOfEverySize) {
  Var n = te::size_var("n"), m = te::size_var("m");
  te::Tensor A = te::placeholder({n, m}, "A"), B = te::placeholder({m, n}, "B");
  te::IterVar k = te::reduce_axis({0, m}, "k");
  te::Tensor C = te::compute(
      {n, n}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  te::Tensor tile = s.cache_write(C, "local");
  const auto tiles = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 8);
  s[C].parallel(tiles.x_outer).vectorize(tiles.y_inner);
  s[tile].compute_at(s[C], tiles.y_outer);
  s[tile]
      .reorder({s[tile].reduce_axis(0), s[tile].axis(0), s[tile].axis(1)})
      .vectorize(s[tile].axis(1));
  // An array of one element has strides of 0.
  EXPECT_EQ(
      compare_with_default(s, {A, B, C}, {.symbols = {0, 1, 4, 8, 13}, .build = kInstrumented}),
      "");
}

TEST(InstrumentedTest, ElementsThatAreVectors) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A", Float(32, 4));
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(n - 1 - i) * 2.0f; }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].vectorize(s[B].split(s[B].axis(0), 4).inner);
  EXPECT_EQ(compare_with_default(s, {A, B}, {.symbols = {1, 8, 11}, .build = kInstrumented}), "");
  // The first element behind the last, which is not proved.
  te::Tensor C = te::compute(
      {n}, {"i"}, [&](Var i) { return A(floormod(i + 1, n + 1)) * 2.0f; }, "C");
  const runtime::Module mod = build(te::create_schedule(C), {A, C}, Target("llvm"), kInstrumented);
  const runtime::NDArray a = runtime::NDArray::random({5}, Float(32, 4)),
                         c = runtime::NDArray::zeros({5}, Float(32, 4));
  EXPECT_THROW(mod["main"](a, c), RuntimeError);
}

TEST(InstrumentedTest, AStoreOutsideStopsTheProgram) {
  te::Tensor I = te::placeholder({4}, "I", Int(32));
  te::Tensor B = te::extern_op(
      {4}, {I},
      [](std::span<const tir::Buffer> ins, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto index = ib.buffer_ptr(ins[0]), b = ib.buffer_ptr(outs[0]);
        ib.for_range(0, 4, "i", [&](Var i) { b[Expr(index[i])] = i.astype(Float(32)); });
        return ib.get();
      },
      "B", {.dtype = Float(32)});
  const runtime::Module mod = build(te::create_schedule(B), {I, B}, Target("llvm"), kInstrumented);
  const runtime::NDArray b = runtime::NDArray::zeros({4}, Float(32));
  mod["main"](runtime::NDArray::from(std::vector<int>{3, 2, 1, 0}, {4}), b);
  EXPECT_EQ(b.to_vector<float>(), (std::vector<float>{3, 2, 1, 0}));
  for (int outside : {-1, 4, 1 << 30})
    EXPECT_THROW(mod["main"](runtime::NDArray::from(std::vector<int>{0, outside, 1, 2}, {4}), b),
                 RuntimeError);
}

/// The second half of a double buffer is inside as well.
/// The largest uint32 plus 1 is 0, also in the check of an array whose rows lie apart.
TEST(InstrumentedTest, UnsignedIndicesWrapAsTheAccessDoes) {
  const te::Tensor I = te::placeholder({5}, "I", UInt(32)), B = te::placeholder({8, 3}, "B");
  const te::Tensor C = te::compute(
      {5, 3}, {"i", "j"},
      [&](Var i, Var j) {
        const Expr row = I(i) + tir::make_const(UInt(32), 1);
        return if_then_else(row < tir::make_const(UInt(32), 8), B(row, j), 0.0f);
      },
      "C");
  const tir::Buffer rows =
      tir::decl_buffer({8, 3}, Float(32), {.name = "B", .strides = {te::var("stride"), Expr(1)}});
  const runtime::Module module =
      build(te::create_schedule(C), {I, B, C}, Target("llvm"),
            {.name = "main", .binds = {{B, rows}}, .instrument_bounds = true});
  const runtime::NDArray i = runtime::NDArray::empty({5}, UInt(32)),
                         b = runtime::NDArray::empty({8, 3}, Float(32)),
                         c = runtime::NDArray::empty({5, 3}, Float(32));
  std::fill_n(i.data<std::uint32_t>(), 5, ~std::uint32_t{0});
  for (int n = 0; n < 24; ++n) b.data<float>()[n] = static_cast<float>(n + 1);
  module["main"](i, b, c);
  for (int n = 0; n < 15; ++n) EXPECT_EQ(c.data<float>()[n], static_cast<float>(n % 3 + 1));
}

TEST(InstrumentedTest, DoubleBuffersAreTwiceAsLarge) {
  te::Tensor A = te::placeholder({12}, "A");
  te::Tensor B = te::compute(
      {12, 3}, {"i", "j"}, [&](Var i, Var j) { return A(i) + j.astype(Float(32)); }, "B");
  te::Schedule s = te::create_schedule(B);
  te::Tensor copy = s.cache_read(A, "local", {B});
  s[copy].compute_at(s[B], s[B].axis(0)).double_buffer();
  EXPECT_EQ(compare_with_default(s, {A, B}, {.build = kInstrumented}), "");
}

}  // namespace
}  // namespace tenon::testing
