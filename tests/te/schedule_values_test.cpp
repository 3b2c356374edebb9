// Schedules keep values: the numbers are those of the default schedule.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "tenon/interp/evaluate.h"
#include "tenon/te/freeze.h"
#include "tenon/te/operation_kind.h"
#include "tenon/te/reduce.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tests/common/random_intrinsic.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {

// ---- rewrites -----------------------------------------------------------------------------------

// Rewrites after uneven splits, of parts, and of several reductions: the values stay, and nothing
// is read that is not there (the interpreter refuses it).

using testing::Computation;
using testing::run;
using testing::watch;

namespace {

void expect_same_values(const Schedule& s, const std::vector<Tensor>& tensors) {
  EXPECT_EQ(testing::run(s, tensors), testing::run(create_schedule(tensors.back()), tensors));
}

TEST(CacheWriteValues, AfterAnUnevenTileNothingBeyondTheInputsIsRead) {
  Tensor A = placeholder({10, 7}, "A");
  Tensor B = compute(
      {10, 7}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "B");
  Schedule s = create_schedule(B);
  auto [io, jo, ii, ji] = s[B].tile(s[B].axis(0), s[B].axis(1), 4, 3);
  s.cache_write(B, "local");
  expect_same_values(s, {A, B});
}

TEST(CacheWriteValues, AfterAnUnevenSplitAProducerAtTheCacheIsComputedWithinItsShape) {
  Tensor A = placeholder({10}, "A");
  Tensor B = compute(
      {10}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  Tensor C = compute(
      {10}, {"i"}, [&](Var i) { return B(i) * 2.0f; }, "C");
  Schedule s = create_schedule(C);
  s[C].split(s[C].axis(0), 4);
  Tensor CL = s.cache_write(C, "local");
  s[B].compute_at(s[CL], s[CL].axis(0));
  expect_same_values(s, {A, C});
}

TEST(CacheWriteValues, OfAReductionThatStartsFromAnotherTensorAfterAnUnevenSplit) {
  Tensor A = placeholder({10, 3}, "A"), I = placeholder({10}, "I");
  IterVar k = reduce_axis({0, 3}, "k");
  Tensor B = compute(
      {10}, {"i"}, [&](Var i) { return sum(A(i, k), {k}, {.init = {I(i)}}); }, "B");
  Schedule s = create_schedule(B);
  s[B].split(s[B].axis(0), 4);
  s.cache_write(B, "local");
  expect_same_values(s, {A, I, B});
}

TEST(CacheWriteValues, OfACacheOfACacheWithSplitsThatDivideNeither) {
  Tensor A = placeholder({11}, "A");
  Tensor B = compute(
      {11}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  Schedule s = create_schedule(B);
  s[B].split(s[B].axis(0), 4);
  Tensor inner = s.cache_write(B, "local");
  s[inner].split(s[inner].axis(1), 3);
  s.cache_write(inner, "local");
  expect_same_values(s, {A, B});
}

TEST(RfactorValues, OfAnAxisWhoseOtherPartIsFusedWithAnotherReduction) {
  Tensor A = placeholder({3, 6, 5}, "A");
  IterVar k = reduce_axis({0, 6}, "k"), l = reduce_axis({0, 5}, "l");
  Tensor B = compute(
      {3}, {"i"},
      [&](Var i) {
        return sum(A(i, k, l), {k, l});
      },
      "B");
  Schedule s = create_schedule(B);
  auto [ko, ki] = s[B].split(k, 4);
  s[B].reorder({ki, ko, l});
  s[B].fuse(ko, l);
  s.rfactor(B, ki);
  expect_same_values(s, {A, B});
}

TEST(RfactorValues, OfAnUnevenSplitOfAnAxisThatStartsElsewhere) {
  Tensor A = placeholder({12}, "A");
  IterVar k = reduce_axis({2, 12}, "k");
  Tensor B = compute(
      {1}, {"i"}, [&](Var) { return sum(A(k), {k}, {.where = Expr(k) != 5}); }, "B");
  for (bool outer : {true, false}) {
    Schedule s = create_schedule(B);
    auto [ko, ki] = s[B].split(k, 4);
    s.rfactor(B, outer ? ko : ki);
    expect_same_values(s, {A, B});
  }
}

TEST(TransformLayoutValues, OfAStageOfWhichAPartIsNeeded) {
  Tensor A = placeholder({6, 8}, "A");
  Tensor B = compute(
      {6, 8}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  Tensor C = compute(
      {4, 5}, {"i", "j"}, [&](Var i, Var j) { return B(i + 1, j + 2) * 2.0f; }, "C");
  auto in_blocks = [](std::span<const Var> at) {
    return std::vector<Expr>{tir::floordiv(at[1], 4), at[0], tir::floormod(at[1], 4)};
  };
  for (bool at_loop : {false, true}) {
    Schedule s = create_schedule(C);
    s[B].transform_layout(in_blocks);
    if (at_loop) s[B].compute_at(s[C], s[C].axis(0));
    expect_same_values(s, {A, C});
  }
}

TEST(PrefetchValues, OfWhatIsComputedInTheSameLoopIsRefused) {
  Tensor A = placeholder({6, 8}, "A");
  Tensor B = compute(
      {6, 8}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  Tensor C = compute(
      {6, 8}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * 2.0f; }, "C");
  Schedule s = create_schedule(C);
  s[B].compute_at(s[C], s[C].axis(0));
  s[C].prefetch(B, s[C].axis(0), 1);
  EXPECT_THROW(testing::run(s, {A, C}), ScheduleError);
}

TEST(PrefetchValues, TheDistanceMayHaveAWiderTypeThanTheLoop) {
  Tensor A = placeholder({6, 8}, "A");
  Tensor C = compute(
      {6, 8}, {"i", "j"},
      [&](Var i, Var j) { return tir::if_then_else(i >= 2, A(i - 2, j), 0.0f); }, "C");
  Schedule s = create_schedule(C);
  s[C].prefetch(A, s[C].axis(0), tir::make_int(Int(64), 3));
  expect_same_values(s, {A, C});
}

}  // namespace

// The values of fused axes double with each round of split and fuse. Large ones are named, where
// the loops that they depend on are open.

namespace {

/// Splits the axis, exchanges the parts and fuses them again, several times.
IterVar mixed(Stage stage, IterVar axis, int rounds) {
  for (int n = 0; n < rounds; ++n) {
    auto [outer, inner] = stage.split(axis, 2 + n % 3);
    stage.reorder({inner, outer});
    axis = stage.fuse(inner, outer);
  }
  return axis;
}

struct RowSums {
  Tensor A = placeholder({6, 16}, "A");
  IterVar k = reduce_axis({0, 16}, "k");
  Tensor B = compute(
      {6}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
};

TEST(LargeValues, OfAReductionAcrossThreadsAreNamedInsideTheLoopsOfEachThread) {
  RowSums rows;
  Schedule s = create_schedule(rows.B);
  auto [outer, inner] = s[rows.B].split(mixed(s[rows.B], rows.k, 6), 3);
  s[rows.B].bind(inner, thread_axis("threadIdx.x"));
  expect_same_values(s, {rows.A, rows.B});
}

TEST(LargeValues, OfAReductionAreNotNamedWhereItIsInitialised) {
  RowSums rows;
  Schedule s = create_schedule(rows.B);
  mixed(s[rows.B], rows.k, 6);
  expect_same_values(s, {rows.A, rows.B});
}

TEST(LargeValues, OfLoopsAroundAReductionAreNamedWhereItIsInitialised) {
  RowSums rows;
  Schedule s = create_schedule(rows.B);
  const IterVar i = mixed(s[rows.B], s[rows.B].axis(0), 6);
  auto [outer, inner] = s[rows.B].split(i, 2);
  s[rows.B].reorder({outer, rows.k, inner});
  expect_same_values(s, {rows.A, rows.B});
}

TEST(LargeValues, OfLoopsWithAProducerInsideAreNamedAroundIt) {
  const Tensor A = placeholder({24}, "A");
  const Tensor B = compute(
      {24}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "B");
  const Tensor C = compute(
      {24}, {"i"}, [&](Var i) { return B(i) * 2.0f; }, "C");
  Schedule s = create_schedule(C);
  s[B].compute_at(s[C], mixed(s[C], s[C].axis(0), 6));
  expect_same_values(s, {A, C});
}

TEST(LargeValues, GrowLinearlyWithTheRounds) {
  const auto size_after = [](int rounds) {
    const Tensor A = placeholder({100}, "A");
    const Tensor C = compute(
        {100}, {"i"}, [&](Var i) { return A(i) + 1.0f; }, "C");
    Schedule s = create_schedule(C);
    mixed(s[C], s[C].axis(0), rounds);
    const StageGraph graph = freeze(s);
    return tir::node_count(schedule_ops(graph, infer_bound(graph)));
  };
  EXPECT_LT(size_after(32), 3 * size_after(16));
}

}  // namespace

// Loop programs: they compute the same as the plain loops, and of what others read just that.

namespace {

Tensor plus_one(const Tensor& x, const std::string& name) {
  return compute(
      x.shape(), {"i"}, [&](Var i) { return x(i) + 1.0f; }, name);
}

void expect_same(const std::vector<testing::Array>& a, const std::vector<testing::Array>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], b[i]);
}

/// Running sums whose readers leave the last two rows out: at few rows they need not even the
/// first.
TEST(ScheduleOpsValues, AScanOfWhichNoRowIsReadKeepsItsInitialState) {
  Var n = size_var("n");
  Tensor A = placeholder({n + 1, 3}, "A");
  Tensor state = placeholder({n + 1, 3}, "state");
  Tensor init = compute(
      {1, 3}, [&](Var t, Var j) { return A(t, j); }, "init");
  Tensor update = compute(
      {n + 1, 3}, [&](Var t, Var j) { return state(t - 1, j) + A(t, j); }, "update");
  Tensor sums = scan(init, update, state, {A}, "sums");
  Tensor before = compute(
      {n}, [&](Var i) { return if_then_else(i >= 1, sums(i - 1, tir::min(i, 2)), 0.0f); },
      "before");
  for (const std::int64_t rows : {0, 1, 2, 3, 5}) {
    const std::vector<testing::Array> arrays =
        run(create_schedule(before), {A, before}, {.sizes = {{"n", rows}}});
    for (std::int64_t i = 0; i < rows; ++i) {
      float expected = 0;
      for (std::int64_t t = 0; t < i; ++t)
        expected += arrays[0][static_cast<std::size_t>(t * 3 + std::min<std::int64_t>(i, 2))];
      EXPECT_EQ(arrays[1][static_cast<std::size_t>(i)], expected) << rows << " rows, row " << i;
    }
  }
}

/// The one row that is read lies outside of what there is, so that no row is computed.
TEST(ScheduleOpsValues, AStageOfWhichNothingIsNeededMayBeSplitAndFused) {
  for (const bool by_parts : {false, true}) {
    Tensor A = placeholder({4, 26}, "A");
    Tensor B = compute(
        {4, 26}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
    Tensor C = compute(
        {1}, [&](Var i) { return if_then_else(i >= 1, B(i - 1, i + 12), 0.0f); }, "C");
    Schedule s = create_schedule(C);
    const std::vector<IterVar> axes = s[B].transform_layout([](Var i, Var j) {
      return std::vector<Expr>{j, i};
    });
    auto [outer, inner] = by_parts ? s[B].split_by_nparts(axes[1], 3) : s[B].split(axes[1], 6);
    s[B].fuse({axes[0], outer, inner});
    EXPECT_EQ(run(s, {A, C})[1], testing::Array{0});
  }
}

/// sum over a 3x3 window of a padded input.
struct PaddedWindow {
  Tensor A = placeholder({7, 9}, "A");
  Tensor P = compute(
      {9, 11}, {"i", "j"},
      [&](Var i, Var j) {
        return if_then_else(tir::all(i >= 1, i < 8, j >= 1, j < 10), A(i - 1, j - 1), 0.0f);
      },
      "P");
  IterVar y = reduce_axis({0, 3}, "y"), x = reduce_axis({0, 3}, "x");
  Tensor B = compute(
      {7, 9}, {"i", "j"},
      [&](Var i, Var j) {
        return sum(P(i + y, j + x), {y, x});
      },
      "B");
};

TEST(ScheduleOpsValues, AStageAtAnyLoopGivesTheSame) {
  PaddedWindow w;
  std::vector<testing::Array> expected = run(create_schedule(w.B), {w.A, w.B});
  for (int position = 0; position < 6; ++position) {
    Schedule s = create_schedule(w.B);
    auto [jo, ji] = s[w.B].split(s[w.B].axis(1), 4);
    auto [io, ii] = s[w.B].split(s[w.B].axis(0), 2);
    s[w.B].reorder({io, jo, ii, ji});
    s[w.P].compute_at(s[w.B], s[w.B].leaf_iter_vars()[static_cast<std::size_t>(position)]);
    expect_same(run(s, {w.A, w.B}), expected);
  }
}

TEST(ScheduleOpsValues, AReductionAtASplitThatDoesNotDivideGivesTheSame) {
  Tensor A = placeholder({101, 5}, "A");
  IterVar k = reduce_axis({0, 5}, "k");
  Tensor B = compute(
      {101}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
  Tensor C = compute(
      {101}, {"i"}, [&](Var i) { return B(i) * 2.0f; }, "C");
  std::vector<testing::Array> expected = run(create_schedule(C), {A, C});
  for (int factor : {100, 7, 64, 101, 3}) {
    Schedule s = create_schedule(C);
    auto [o, i] = s[C].split(s[C].axis(0), factor);
    s[B].compute_at(s[C], i);
    expect_same(run(s, {A, C}), expected);
  }
}

TEST(ScheduleOpsValues, DataAndReductionFusedGiveTheSame) {
  Tensor A = placeholder({6, 5}, "A");
  IterVar k = reduce_axis({0, 5}, "k");
  Tensor B = compute(
      {6}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
  std::vector<testing::Array> expected = run(create_schedule(B), {A, B});
  for (int factor : {1, 4, 7, 30}) {
    Schedule s = create_schedule(B);
    s[B].split(s[B].fuse(s[B].axis(0), s[B].reduce_axis(0)), factor);
    expect_same(run(s, {A, B}), expected);
  }
}

TEST(ScheduleOpsValues, ARankZeroReductionUnderASingletonSplitGivesTheSame) {
  Tensor A = placeholder({10}, "A");
  IterVar k = reduce_axis({0, 10}, "k");
  Tensor B = compute(
      {}, {}, [&] { return sum(A(k), {k}); }, "B");
  std::vector<testing::Array> expected = run(create_schedule(B), {A, B});
  Schedule s = create_schedule(B);
  s[B].split_by_nparts(s[B].fuse(std::vector<IterVar>{}), 20);
  expect_same(run(s, {A, B}), expected);
}

TEST(ScheduleOpsValues, AReductionRangeMayDependOnADataAxis) {
  Tensor A = placeholder({6}, "A");
  Tensor B = compute(
      {6}, {"i"},
      [&](Var i) {
        IterVar k = reduce_axis({0, i + 1}, "k");
        return sum(A(k), {k});
      },
      "B");
  std::vector<testing::Array> arrays = run(create_schedule(B), {A, B});
  float total = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    total += arrays[0][i];
    EXPECT_EQ(arrays[1][i], total);
  }
}

TEST(ScheduleOpsValues, ThreadsOfTwoExtentsOnOneAxisGiveTheSame) {
  Tensor A = placeholder({102}, "A"), B = plus_one(A, "B"), C = plus_one(B, "C");
  std::vector<testing::Array> expected = run(create_schedule(C), {A, C});
  IterVar tx = thread_axis("threadIdx.x");
  Schedule s = create_schedule(C);
  auto [co, ci] = s[C].split(s[C].axis(0), 17);
  s[C].bind(co, thread_axis("blockIdx.x")).bind(ci, tx);
  s[B].set_scope("shared").compute_at(s[C], co);
  auto [bo, bi] = s[B].split(s[B].axis(0), 32);
  s[B].bind(bi, tx);
  expect_same(run(s, {A, C}), expected);
}

TEST(ScheduleOpsValues, AThreadOnAnAxisThatStartsElsewhereIsShifted) {
  Tensor A = placeholder({64}, "A"), B = plus_one(A, "B");
  Tensor C = compute(
      {32}, {"i"}, [&](Var i) { return B(i + 16); }, "C");
  std::vector<testing::Array> expected = run(create_schedule(C), {A, C});
  Schedule s = create_schedule(C);
  s[B].bind(s[B].axis(0), thread_axis("threadIdx.x"));
  expect_same(run(s, {A, C}), expected);
}

TEST(ScheduleOpsValues, ReductionsAcrossThreadsGiveTheSame) {
  for (int size : {1, 10, 32, 37, 64}) {
    Tensor A = placeholder({10, size}, "A");
    IterVar k = reduce_axis({0, size}, "k");
    Tensor B = compute(
        {10}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
    std::vector<testing::Array> expected = run(create_schedule(B), {A, B});
    for (int form = 0; form < 4; ++form) {
      Schedule s = create_schedule(B);
      IterVar tx = thread_axis("threadIdx.x");
      if (form == 0) s[B].bind(s[B].reduce_axis(0), tx);
      if (form == 1) s[B].bind(s[B].split_by_nparts(s[B].reduce_axis(0), 8).outer, tx);
      if (form == 2) s[B].bind(s[B].split(s[B].reduce_axis(0), 8).inner, tx);
      if (form == 3) {
        auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 8);
        s[B].bind(ko, thread_axis("threadIdx.y")).bind(ki, tx);
      }
      expect_same(run(s, {A, B}), expected);
    }
  }
}

TEST(ScheduleOpsValues, AnUnevenDataAxisBesideAReductionAcrossThreadsGivesTheSame) {
  Tensor A = placeholder({10, 16}, "A");
  IterVar k = reduce_axis({0, 16}, "k");
  Tensor B = compute(
      {10}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
  std::vector<testing::Array> expected = run(create_schedule(B), {A, B});
  Schedule s = create_schedule(B);
  auto [io, ii] = s[B].split(s[B].axis(0), 4);
  s[B].bind(io, thread_axis("blockIdx.x")).bind(ii, thread_axis("threadIdx.y"));
  s[B].bind(s[B].reduce_axis(0), thread_axis("threadIdx.x"));
  expect_same(run(s, {A, B}), expected);
}

TEST(ScheduleOpsValues, AStartValueIsCountedOnceAcrossThreads) {
  Tensor A = placeholder({4, 16}, "A"), I = placeholder({4}, "I");
  IterVar k = reduce_axis({0, 16}, "k");
  Tensor B = compute(
      {4}, {"i"}, [&](Var i) { return sum(A(i, k), {k}, {.init = {I(i)}}); }, "B");
  std::vector<testing::Array> expected = run(create_schedule(B), {A, I, B});
  Schedule s = create_schedule(B);
  s[B].bind(s[B].reduce_axis(0), thread_axis("threadIdx.x"));
  expect_same(run(s, {A, I, B}), expected);
}

TEST(ScheduleOpsValues, AConditionHoldsForEachElementAcrossThreads) {
  Tensor A = placeholder({4, 16}, "A");
  IterVar k = reduce_axis({0, 16}, "k");
  Tensor B = compute(
      {4}, {"i"}, [&](Var i) { return sum(A(i, k), {k}, {.where = k < i * 4 + 1}); }, "B");
  std::vector<testing::Array> expected = run(create_schedule(B), {A, B});
  for (bool split : {false, true}) {
    Schedule s = create_schedule(B);
    IterVar tx = thread_axis("threadIdx.x");
    s[B].bind(split ? s[B].split(s[B].reduce_axis(0), 4).inner : s[B].reduce_axis(0), tx);
    expect_same(run(s, {A, B}), expected);
  }
}

TEST(ScheduleOpsValues, AProducerInsideAReductionAcrossThreadsGivesTheSame) {
  Tensor A = placeholder({4, 32}, "A");
  Tensor P = compute(
      {4, 32}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2.0f; }, "P");
  IterVar k = reduce_axis({0, 32}, "k");
  Tensor B = compute(
      {4}, {"i"}, [&](Var i) { return sum(P(i, k), {k}); }, "B");
  std::vector<testing::Array> expected = run(create_schedule(B), {A, B});
  for (int place = 0; place < 3; ++place) {
    Schedule s = create_schedule(B);
    auto [ko, ki] = s[B].split(s[B].reduce_axis(0), 8);
    s[B].bind(ki, thread_axis("threadIdx.x"));
    s[P].compute_at(s[B], place == 0 ? s[B].axis(0) : place == 1 ? ko : ki);
    if (place == 0) {
      s[P].set_scope("shared");
      s[B].bind(s[B].axis(0), thread_axis("blockIdx.x"));
    }
    expect_same(run(s, {A, B}), expected);
  }
}

// ---- what is computed is what is read -----------------------------------------------------------

void expect_exact(const std::vector<Computation>& computations, std::size_t times) {
  ASSERT_EQ(computations.size(), times);
  for (const Computation& c : computations) EXPECT_EQ(c.written, c.read);
}

TEST(ScheduleOpsRegions, OfATileAndItsHalo) {
  Tensor A = placeholder({34}, "A"), B = plus_one(A, "B");
  Tensor C = compute(
      {32}, {"i"}, [&](Var i) { return B(i) + B(i + 1) + B(i + 2); }, "C");
  Schedule s = create_schedule(C);
  auto [o, i] = s[C].split(s[C].axis(0), 8);
  s[B].compute_at(s[C], o);
  expect_exact(watch(s, {A, C}, "B"), 4);
}

TEST(ScheduleOpsRegions, OfStridedReads) {
  Tensor A = placeholder({64}, "A"), B = plus_one(A, "B");
  Tensor C = compute(
      {32}, {"i"}, [&](Var i) { return B(i * 2) + B(i * 2 + 1); }, "C");
  Schedule s = create_schedule(C);
  auto [o, i] = s[C].split(s[C].axis(0), 4);
  s[B].compute_at(s[C], o);
  expect_exact(watch(s, {A, C}, "B"), 8);
}

TEST(ScheduleOpsRegions, OfReversedReads) {
  Tensor A = placeholder({32}, "A"), B = plus_one(A, "B");
  Tensor C = compute(
      {32}, {"i"}, [&](Var i) { return B(31 - i); }, "C");
  Schedule s = create_schedule(C);
  auto [o, i] = s[C].split(s[C].axis(0), 4);
  s[B].compute_at(s[C], o);
  expect_exact(watch(s, {A, C}, "B"), 8);
}

TEST(ScheduleOpsRegions, OfATransposedReaderInTwoLevels) {
  Tensor A = placeholder({16, 12}, "A");
  Tensor B = compute(
      {16, 12}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  Tensor C = compute(
      {12, 16}, {"i", "j"}, [&](Var i, Var j) { return B(j, i) * 2.0f; }, "C");
  Schedule s = create_schedule(C);
  auto [io, jo, ii, ji] = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 8);
  s[B].compute_at(s[C], jo);
  expect_exact(watch(s, {A, C}, "B"), 6);
}

TEST(ScheduleOpsRegions, OfAWindowInsideTheReduction) {
  PaddedWindow w;
  Schedule s = create_schedule(w.B);
  s[w.P].compute_at(s[w.B], s[w.B].reduce_axis(0));
  expect_exact(watch(s, {w.A, w.B}, "P"), 7 * 9 * 3);
}

TEST(ScheduleOpsRegions, OfRowsUnderAFusedAxis) {
  Tensor A = placeholder({12, 6}, "A");
  Tensor B = compute(
      {12, 6}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  Tensor C = compute(
      {12, 6}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * 2.0f; }, "C");
  for (auto [factor, times] : {std::pair<int, std::size_t>{12, 6}, {6, 12}, {3, 24}, {2, 36}}) {
    Schedule s = create_schedule(C);
    auto [o, i] = s[C].split(s[C].fuse(s[C].axis(0), s[C].axis(1)), factor);
    s[B].compute_at(s[C], o);
    expect_exact(watch(s, {A, C}, "B"), times);
  }
}

/// Elements whose loop is fused with that of their reduction get their first value also where there
/// is nothing to reduce.
TEST(ScheduleOpsValues, DataFusedWithAReductionOverNothing) {
  Var n = size_var("n");
  Tensor A = placeholder({7, n}, "A");
  IterVar k = reduce_axis({0, n}, "k");
  Tensor B = compute(
      {7}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
  for (const bool splits : {false, true}) {
    Schedule s = create_schedule(B);
    auto [outer, inner] = s[B].split(s[B].axis(0), 3);
    const IterVar fused = s[B].fuse(inner, s[B].reduce_axis(0));
    if (splits) s[B].split(fused, 4);
    for (const std::int64_t size : {0, 1, 5}) {
      SCOPED_TRACE(size);
      const testing::RunOptions options{.sizes = {{"n", size}}};
      expect_same(run(s, {A, B}, options), run(create_schedule(B), {A, B}, options));
    }
  }
}

}  // namespace

// ---- random schedules ---------------------------------------------------------------------------

// Random small programs under random schedules compute what they compute under the plain one.

namespace {

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed), with_threads_(seed % 3 == 0) {}

  void make_program() {
    inputs_.push_back(placeholder({below(7) + 1, below(9) + 1}, "A"));
    tensors_.push_back(inputs_[0]);
    const int count = 2 + below(4);
    for (int n = 0; n < count; ++n) tensors_.push_back(make_stage("T" + std::to_string(n)));
  }

  std::vector<Tensor> arguments() const {
    std::vector<Tensor> all = inputs_;
    all.push_back(tensors_.back());
    return all;
  }

  Schedule make_schedule() {
    Schedule s = create_schedule(tensors_.back());
    const std::size_t last = tensors_.size() - 1;
    if (chance(3)) attempt([&] { s.cache_write(tensors_.back(), "local"); });
    if (chance(3)) attempt([&] { s.cache_read(pick(tensors_), "shared", {}); });
    for (std::size_t n = s.stages().size(); n-- > 0;) {
      Stage stage = s.stages()[n];
      if (stage.op().as<Placeholder>()) continue;
      const bool is_output = stage.origin_op().same_as(tensors_[last].op());
      if (!is_output && chance(5)) {
        attempt([&] { stage.compute_inline(); });
        continue;
      }
      for (int steps = below(6); steps > 0; --steps) change_loops(stage);
      if (chance(6)) factor(s, stage);
      if (with_threads_ && chance(2)) bind(stage);
      if (!is_output && chance(2)) place(s, stage);
    }
    return s;
  }

  /// Intrinsics for some stages, once their loops are as they are to be. How many.
  int tensorize(const Schedule& s) {
    int count = 0;
    // Readers first: what they need decides how long the loops of stages inside of them are.
    for (std::size_t n = s.stages().size(); n-- > 0;) {
      const Stage stage = s.stages()[n];
      if (stage.op().as<Placeholder>() || !chance(2)) continue;
      attempt([&] {
        const std::string done = tenon::testing::tensorize_by_chance(
            freeze(s), stage, [&](int lo, int hi) { return lo + below(hi - lo + 1); });
        if (done.empty()) return;
        log_ += stage.name() + " " + done + "\n";
        ++count;
      });
    }
    return count;
  }

  const std::string& log() const { return log_; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }

  template <class F>
  void attempt(F f) {
    try {
      f();
    } catch (const ScheduleError&) {
      // Not legal here; the schedule is as it was.
    }
  }

  static int extent(const Tensor& t, int dim) {
    return static_cast<int>(*tir::constant_int(t.shape()[static_cast<std::size_t>(dim)]));
  }

  Tensor make_stage(const std::string& name) {
    const Tensor P = chance(3) ? pick(tensors_) : tensors_.back();
    const int n = extent(P, 0), m = extent(P, 1);
    auto make = [&](int rows, int columns, const std::function<Expr(Var, Var)>& body) {
      return compute(
          {rows, columns}, {"i", "j"}, [&](Var i, Var j) { return body(i, j); }, name);
    };
    switch (below(8)) {
      case 0:
        return make(n, m, [&](Var i, Var j) { return P(i, j) + 1.0f; });
      case 1:
        return make(m, n, [&](Var i, Var j) { return P(j, i) * 2.0f; });
      case 2:
        return make(
            n, m, [&](Var i, Var j) { return if_then_else(i >= 1, P(i - 1, j), 0.0f) + P(i, j); });
      case 3:
        if (m < 3) return make(n, m, [&](Var i, Var j) { return P(i, m - 1 - j); });
        return make(n, m - 2, [&](Var i, Var j) { return P(i, j) + P(i, j + 1) - P(i, j + 2); });
      case 4: {
        IterVar k = reduce_axis({0, m}, "k");
        return make(n, 1, [&](Var i, Var) { return sum(P(i, k), {k}); });
      }
      case 5: {
        IterVar y = reduce_axis({0, 2}, "y"), x = reduce_axis({0, 2}, "x");
        if (n < 2 || m < 2) return make(n, m, [&](Var i, Var j) { return P(i, j) - 3.0f; });
        return make(n - 1, m - 1, [&](Var i, Var j) { return max(P(i + y, j + x), {y, x}); });
      }
      case 6: {
        IterVar k = reduce_axis({0, m}, "k");
        return make(n, n, [&](Var i, Var j) {
          return sum(P(i, k) - P(j, k) * 2.0f, {k}, {.where = k <= i + j});
        });
      }
      default: {
        const Tensor Q = pick(tensors_);
        const int rows = std::min(n, extent(Q, 0)), columns = std::min(m, extent(Q, 1));
        return make(rows, columns, [&](Var i, Var j) {
          return P(i, j) - Q(i, tir::min(j + 1, extent(Q, 1) - 1));
        });
      }
    }
  }

  void change_loops(const Stage& stage) {
    const std::vector<IterVar> leaves = stage.leaf_iter_vars();
    if (leaves.empty()) return;
    const IterVar axis = pick(leaves);
    const std::string where = stage.name() + "." + axis.name();
    switch (below(7)) {
      case 0:
      case 1: {
        const int factor = 1 + below(5);
        log_ += "split " + where + " " + std::to_string(factor) + "\n";
        return attempt([&] { stage.split(axis, factor); });
      }
      case 2: {
        const int parts = 1 + below(5);
        log_ += "split_by_nparts " + where + " " + std::to_string(parts) + "\n";
        return attempt([&] { stage.split_by_nparts(axis, parts); });
      }
      case 3: {
        const std::size_t n = static_cast<std::size_t>(below(static_cast<int>(leaves.size())));
        if (n + 1 == leaves.size() || leaves[n].kind() != leaves[n + 1].kind()) return;
        log_ += "fuse " + stage.name() + " " + leaves[n].name() + " " + leaves[n + 1].name() + "\n";
        return attempt([&] { stage.fuse(leaves[n], leaves[n + 1]); });
      }
      case 4:
      case 5: {
        std::vector<IterVar> order = leaves;
        std::shuffle(order.begin(), order.end(), random_);
        log_ += "reorder " + stage.name();
        for (const IterVar& a : order) log_ += " " + a.name();
        log_ += "\n";
        return attempt([&] { stage.reorder(order); });
      }
      default:
        log_ += "unroll " + where + "\n";
        return attempt([&] { stage.unroll(axis); });
    }
  }

  void factor(const Schedule& s, const Stage& stage) {
    const IterVar axis = pick(stage.leaf_iter_vars());
    if (axis.kind() != IterKind::Reduce) return;
    log_ += "rfactor " + stage.name() + "." + axis.name() + "\n";
    attempt([&] { s.rfactor(stage.op().output(0), axis); });
  }

  /// Threads of several stages are the same ones, with whatever extents.
  void bind(const Stage& stage) {
    const IterVar axis = pick(stage.leaf_iter_vars());
    if (axis.kind() != IterKind::DataParallel) return;
    const IterVar& thread = chance(3) ? block_ : thread_;
    log_ += "bind " + stage.name() + "." + axis.name() + " " + thread.name() + "\n";
    attempt([&] { stage.bind(axis, thread); });
  }

  void place(const Schedule& s, const Stage& stage) {
    std::vector<Stage> readers;
    for (const Stage& other : s.stages()) {
      for (const Tensor& input : other.op().inputs()) {
        if (input.op().same_as(stage.op())) readers.push_back(other);
      }
    }
    if (readers.empty()) return;
    const Stage reader = pick(readers);
    if (reader.leaf_iter_vars().empty()) return;
    const IterVar axis = pick(reader.leaf_iter_vars());
    log_ += "compute_at " + stage.name() + " in " + reader.name() + " at " + axis.name() + "\n";
    attempt([&] { stage.compute_at(reader, axis); });
    if (!with_threads_ || chance(3)) return;
    const char* scope = chance(2) ? "shared" : "local";
    log_ += std::string("set_scope ") + scope + "\n";
    attempt([&] { stage.set_scope(scope); });
  }

  std::mt19937 random_;
  bool with_threads_;
  IterVar block_ = thread_axis("blockIdx.x"), thread_ = thread_axis("threadIdx.x");
  std::vector<Tensor> inputs_, tensors_;
  std::string log_;
};

class RandomSchedule : public ::testing::TestWithParam<unsigned> {
 protected:
  enum class Outcome : std::uint8_t { Ran, Refused };
  using Change = std::function<void(Generator&, const Schedule&)>;

  /// One program under a schedule with this last change.
  static Outcome run(unsigned seed, const Change& change) {
    Generator generator(seed);
    generator.make_program();
    const std::vector<Tensor> arguments = generator.arguments();
    const auto expected = testing::run(create_schedule(arguments.back()), arguments);
    EXPECT_EQ(testing::against_definition(arguments, expected), "") << "seed " << seed;
    std::optional<Schedule> s;
    auto described = [&] {
      return "seed " + std::to_string(seed) + "\n" + generator.log() + "\n" +
             (s ? tir::print_stmt(schedule_ops(*s, infer_bound(*s))) : "");
    };
    try {
      s = generator.make_schedule();
      change(generator, *s);
      EXPECT_EQ(testing::run(*s, arguments), expected) << described();
      return Outcome::Ran;
    } catch (const ScheduleError& error) {
      // A place that some reader cannot see, an inlined reduction: found when the schedule is
      // frozen. A loop may turn out shorter than an intrinsic, but what it computes is what the
      // stage computes.
      EXPECT_EQ(std::string_view(error.what()).find("they differ in"), std::string_view::npos)
          << error.what() << "\n"
          << "seed " << seed << "\n"
          << generator.log();
    } catch (const BoundError&) {
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\n" << described();
    }
    return Outcome::Refused;
  }

  static constexpr unsigned kPerCase = 25;
};

TEST_P(RandomSchedule, ComputesTheSame) {
  for (unsigned n = 0; n < kPerCase; ++n)
    run(GetParam() * kPerCase + n, [](Generator&, const Schedule&) {});
}

TEST_P(RandomSchedule, ComputesTheSameWithIntrinsics) {
  int tensorized = 0, ran = 0;
  for (unsigned n = 0; n < 2 * kPerCase; ++n) {
    int count = 0;
    const Outcome outcome =
        run(GetParam() * 2 * kPerCase + n,
            [&](Generator& generator, const Schedule& s) { count = generator.tensorize(s); });
    tensorized += count > 0;
    ran += count > 0 && outcome == Outcome::Ran;
  }
  // Few are refused: by a stage that is computed inside of what an intrinsic would replace, for
  // example.
  EXPECT_GT(ran * 2, tensorized);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomSchedule, ::testing::Range(0u, 20u));

}  // namespace

// Inits and updates of scans that have another role as well.

namespace {

struct ScanPartsTest : ::testing::Test {
  Tensor A = placeholder({5, 3}, "A"), X = placeholder({5, 3}, "X"), Y = placeholder({5, 3}, "Y");
  Tensor init = compute(
      {2, 3}, {"t", "i"}, [&](Var t, Var i) { return A(t, i) + 1.0f; }, "init");
  Tensor x = step(X, 2, "x"), y = step(Y, 3, "y");

  static Tensor step(const Tensor& state, float amount, const std::string& name) {
    return compute(
        {5, 3}, {"t", "i"}, [&](Var t, Var i) { return state(t - 1, i) + amount; }, name);
  }

  /// Computes the outputs from A and compares them with the definitions of their operations.
  void expect_defined(const std::vector<Tensor>& outputs) const {
    std::vector<Tensor> tensors = outputs;
    tensors.insert(tensors.begin(), A);
    EXPECT_EQ(testing::against_definition(tensors, run(create_schedule(outputs), tensors)), "");
  }
};

TEST_F(ScanPartsTest, AStageOfTheStepsMayReadTheInit) {
  const Tensor D = compute(
      {5, 3}, {"t", "i"}, [&](Var t, Var i) { return init(floormod(t, 2), i) * 3.0f; }, "D");
  const Tensor update = compute(
      {5, 3}, {"t", "i"}, [&](Var t, Var i) { return X(t - 2, i) + D(t, i); }, "update");
  expect_defined({scan(init, update, X, {A, D}, "S")});
}

TEST_F(ScanPartsTest, OneInitMayInitializeTwoStates) {
  expect_defined(scan({init, init}, {x, y}, {X, Y}, {}, "S"));
}

TEST_F(ScanPartsTest, OneInitMayInitializeTwoScans) {
  expect_defined({scan(init, x, X, {}, "S"), scan(init, y, Y, {}, "T")});
}

TEST_F(ScanPartsTest, OneUpdateMayUpdateTwoStates) {
  const Tensor other = compute(
      {2, 3}, {"t", "i"}, [&](Var t, Var i) { return A(t, i) * 2.0f; }, "other");
  const Tensor update = compute(
      {5, 3}, {"t", "i"}, [&](Var t, Var i) { return X(t - 2, i) + Y(t - 1, i); }, "update");
  expect_defined(scan({init, other}, {update, update}, {X, Y}, {}, "S"));
}

TEST_F(ScanPartsTest, TheOutputsOfOneInitMayInitializeTwoScans) {
  const std::vector<Tensor> both = compute_multi(
      {2, 3}, {"t", "i"},
      [&](Var t, Var i) {
        return std::vector<Expr>{A(t, i) + 1.0f, A(t, i) * 2.0f};
      },
      "both");
  const Tensor S = scan(both[0], x, X, {}, "S"), T = scan(both[1], y, Y, {}, "T");
  const Tensor C = compute(
      {5, 3}, {"t", "i"}, [&](Var t, Var i) { return S(t, i) * T(t, i); }, "C");
  expect_defined({C});
}

TEST_F(ScanPartsTest, AScanMayInitializeAScan) {
  const Tensor Z = placeholder({2, 3}, "Z");
  const Tensor first = compute(
      {1, 3}, {"t", "i"}, [&](Var t, Var i) { return A(t, i); }, "first");
  const Tensor next = compute(
      {2, 3}, {"t", "i"}, [&](Var t, Var i) { return Z(t - 1, i) * 2.0f; }, "next");
  expect_defined({scan(scan(first, next, Z, {}, "inner"), x, X, {}, "S")});
}

TEST_F(ScanPartsTest, AScanMayUpdateAScan) {
  const Tensor Z = placeholder({5, 3}, "Z");
  const Tensor first = compute(
      {1, 3}, {"t", "i"}, [&](Var t, Var i) { return X(t, i) + 1.0f; }, "first");
  const Tensor next = compute(
      {5, 3}, {"t", "i"}, [&](Var t, Var i) { return Z(t - 1, i) + X(0, i); }, "next");
  expect_defined({scan(init, scan(first, next, Z, {}, "inner"), X, {}, "S")});
}

TEST_F(ScanPartsTest, TheInitMayBeReadBesideTheScan) {
  const Tensor S = scan(init, x, X, {}, "S");
  const Tensor C = compute(
      {2, 3}, {"t", "i"}, [&](Var t, Var i) { return init(t, i) * 2.0f; }, "C");
  const Tensor B = compute(
      {5, 3}, {"t", "i"}, [&](Var t, Var i) { return S(t, i) * 3.0f; }, "B");
  expect_defined({C, B});
}

TEST_F(ScanPartsTest, TheInitMayBeAnArgument) {
  A = placeholder({2, 3}, "A");
  expect_defined({scan(A, x, X, {}, "S")});
}

TEST_F(ScanPartsTest, TheInitMayBeAnOutput) { expect_defined({init, scan(init, x, X, {}, "S")}); }

TEST_F(ScanPartsTest, AnUpdateMayReadEarlierStepsOfAnotherUpdate) {
  // The first of these steps precedes the steps of the scan and differs from the init.
  const Tensor later = compute(
      {5, 3}, {"t", "i"}, [&](Var t, Var i) { return x(t - 1, i) + Y(t - 1, i); }, "later");
  expect_defined(scan({init, init}, {x, later}, {X, Y}, {}, "S"));
}

TEST_F(ScanPartsTest, AnUpdateThatAnotherUpdateReadsAtItsOwnStepIsNotCopied) {
  const Tensor other = compute(
      {2, 3}, {"t", "i"}, [&](Var t, Var i) { return A(t, i) * 2.0f; }, "other");
  const Tensor after = compute(
      {5, 3}, {"t", "i"}, [&](Var t, Var i) { return x(t, i) + Y(t - 1, i); }, "after");
  const std::vector<Tensor> S = scan({init, other}, {x, after}, {X, Y}, {}, "S");
  // A, init, other, X, Y, x, after, S
  EXPECT_EQ(create_schedule(S).stages().size(), 8u);
  expect_defined(S);
}

}  // namespace

// Random scans of which a part is read, under random schedules, compute what they compute under the
// plain one.

namespace {

class RandomScan {
 public:
  explicit RandomScan(unsigned seed) : random_(seed) {
    init_ = compute(
        {1, kSpace}, {"t", "i"}, [&](Var, Var i) { return x_(0, i); }, "init");
    half_ = compute(
        {kSteps, kSpace}, {"t", "i"},
        [&](Var t, Var i) { return state_(t - 1, neighbour(i)) + x_(t, i); }, "half");
    update_ = compute(
        {kSteps, kSpace}, {"t", "i"},
        [&](Var t, Var i) {
          return half_(t, i) * 2.0f - state_(t - 1, chance(3) ? neighbour(i) : Expr(i));
        },
        "update");
    all_ = scan(init_, update_, state_);
    const int first = below(kSpace - 1), count = 1 + below(kSpace - first);
    out_ = compute(
        {kSteps, count}, {"t", "i"}, [&](Var t, Var i) { return all_(t, i + first) * 3.0f; },
        "out");
  }

  std::vector<Tensor> arguments() const { return {x_, out_}; }
  const Tensor& output() const { return out_; }

  Schedule make_schedule() {
    Schedule s = create_schedule(out_);
    if (chance(3)) attempt([&] { caches_.push_back(s.cache_read(state_, "local", {update_})); });
    if (chance(3)) attempt([&] { caches_.push_back(s.cache_read(x_, "local", {half_})); });
    for (const Tensor& t : {out_, update_, half_, init_}) {
      for (int steps = below(4); steps > 0; --steps) change_loops(s[t]);
    }
    if (chance(2))
      attempt([&] { s[half_].compute_at(s[update_], pick(s[update_].leaf_iter_vars())); });
    for (const Tensor& cache : caches_) {
      const Tensor& reader = chance(2) ? update_ : half_;
      attempt([&] { s[cache].compute_at(s[reader], pick(s[reader].leaf_iter_vars())); });
    }
    if (chance(2)) {
      const IterVar place = pick(s[out_].leaf_iter_vars());
      attempt([&] {
        s[all_].compute_at(s[out_], place);
        s[init_].compute_at(s[out_], place);
      });
    }
    return s;
  }

 private:
  static constexpr int kSteps = 4, kSpace = 13;

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  const IterVar& pick(const std::vector<IterVar>& axes) {
    return axes[static_cast<std::size_t>(below(static_cast<int>(axes.size())))];
  }

  /// In place most of the time.
  Expr neighbour(const Var& i) {
    switch (below(5)) {
      case 0:
        return tir::max(i - 1, 0);
      case 1:
        return tir::min(i + 2, kSpace - 1);
      case 2:
        return kSpace - 1 - Expr(i);
      default:
        return i;
    }
  }

  template <class F>
  void attempt(F f) {
    try {
      f();
    } catch (const ScheduleError&) {
      // Not legal here; the schedule is as it was.
    }
  }

  void change_loops(const Stage& stage) {
    const IterVar axis = pick(stage.leaf_iter_vars());
    const int number = 1 + below(5);
    switch (below(4)) {
      case 0:
        return attempt([&] { stage.split_by_nparts(axis, number); });
      case 1: {
        std::vector<IterVar> order = stage.leaf_iter_vars();
        std::shuffle(order.begin(), order.end(), random_);
        return attempt([&] { stage.reorder(order); });
      }
      default:
        return attempt([&] { stage.split(axis, number); });
    }
  }

  std::mt19937 random_;
  Tensor x_ = placeholder({kSteps, kSpace}, "x"), state_ = placeholder({kSteps, kSpace}, "state");
  Tensor init_ = x_, half_ = x_, update_ = x_, all_ = x_, out_ = x_;
  std::vector<Tensor> caches_;
};

TEST(RandomScans, ComputeTheSame) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomScan program(seed);
    const auto expected = testing::run(create_schedule(program.output()), program.arguments());
    ASSERT_EQ(testing::against_definition(program.arguments(), expected), "") << "seed " << seed;
    std::optional<Schedule> s;
    try {
      s = program.make_schedule();
      ASSERT_EQ(testing::run(*s, program.arguments()), expected)
          << "seed " << seed << "\n"
          << tir::print_stmt(schedule_ops(*s, infer_bound(*s)));
    } catch (const ScheduleError&) {
      // A place that some reader cannot see: found when the schedule is frozen.
    } catch (const BoundError&) {
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ": " << error.what() << "\n"
             << tir::print_stmt(schedule_ops(*s, infer_bound(*s)));
    }
  }
}

// ---- random reducers ----------------------------------------------------------------------------

// Reductions by reducers of every kind (associative or not, commutative or not, with identities
// that are not neutral), over ranges that depend on other axes, with integers of the whole range:
// random schedules give what the plain one gives, or are refused.

using Args = std::span<const Var>;
using List = std::vector<Expr>;

class ReducerGenerator {
 public:
  explicit ReducerGenerator(unsigned seed) : random_(seed) {
    const std::vector<DataType> types = {Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(32)};
    input_ = placeholder({below(6) + 1, below(8) + 1}, "A", pick(types));
    reduction_ = make_reduction();
    output_ = compute(
        {rows(), 2}, {"i", "j"},
        [&](Var i, Var j) { return reduction_[0](i, 0) * cast(reduction_[0].dtype(), j + 1); },
        "C");
  }

  std::vector<Tensor> arguments() const { return {*input_, *output_}; }
  Schedule plain() const { return create_schedule(*output_); }

  Schedule scheduled() {
    Schedule s = plain();
    const Stage stage = s[reduction_[0]];
    if (chance(4)) attempt([&] { s.cache_write(reduction_, "global"); });
    for (int steps = below(5); steps > 0; --steps) change(stage);
    if (chance(2)) {
      const IterVar axis = pick(stage.leaf_iter_vars());
      note("rfactor " + axis.name());
      attempt([&] {
        const Stage parts = s[s.rfactor(reduction_, axis, chance(2) ? 0 : -1)[0]];
        for (int steps = below(3); steps > 0; --steps) change(parts);
        if (chance(2)) parts.compute_at(stage, pick(stage.leaf_iter_vars()));
      });
    }
    if (chance(3)) bind(stage);
    if (chance(2)) stage.compute_at(s[*output_], s[*output_].axis(below(2)));
    return s;
  }

  const std::string& log() const { return log_; }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <class T>
  T pick(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }
  void note(const std::string& text) { log_ += text + "\n"; }
  template <class F>
  void attempt(F f) {
    try {
      f();
    } catch (const ScheduleError& error) {
      note("  refused: " + std::string(error.what()));
    }
  }

  int rows() const { return static_cast<int>(*tir::constant_int(input_->shape()[0])); }
  int columns() const { return static_cast<int>(*tir::constant_int(input_->shape()[1])); }
  Expr constant(std::int64_t value) const { return tir::make_int(input_->dtype(), value); }

  /// A reducer of one component.
  Reducer reducer(const std::function<Expr(Expr, Expr)>& combine, std::int64_t identity) const {
    return reducer(combine, constant(identity));
  }
  static Reducer reducer(const std::function<Expr(Expr, Expr)>& combine, const Expr& identity) {
    return comm_reducer([=](Args x, Args y) { return List{combine(x[0], y[0])}; },
                        [=](std::span<const DataType>) { return List{identity}; }, "r");
  }

  /// A reducer that may use an axis.
  Reducer any_reducer(const Var& row) {
    const Expr none = constant(0), limit = constant(100);
    const Expr is_even = tir::floormod(row, 2) == 0, own = tir::cast(none.dtype(), row);
    const int kind = below(10);
    note("reducer " + std::to_string(kind));
    switch (kind) {
      case 0:
        return reducer([](Expr x, Expr y) { return x + y; }, 0);
      case 1:
        return reducer([](Expr x, Expr y) { return x + y; }, 1);
      case 2:
        return reducer([](Expr x, Expr y) { return x - y; }, 0);
      case 3:
        return reducer([](Expr x, Expr y) { return tir::max(x, y); }, 5);
      case 4:
        return reducer([=](Expr x, Expr y) { return tir::min(x + y, limit); }, 0);
      case 5:
        return reducer([=](Expr x, Expr y) { return tir::select(x != none, x, y); }, 0);
      case 6:
        return reducer([=](Expr x, Expr y) { return tir::select(y != none, y, x); }, 0);
      case 7:
        return reducer([=](Expr x, Expr y) { return tir::select(is_even, x + y, tir::max(x, y)); },
                       tir::select(is_even, none, tir::min_value(none.dtype())));
      case 8:
        return reducer([=](Expr x, Expr y) { return tir::max(x + y, own); }, own);
      default:
        return reducer([](Expr x, Expr y) { return x * 3 + y; }, 0);
    }
  }

  std::vector<Tensor> make_reduction() {
    const Tensor& A = *input_;
    const int n = rows(), m = columns(), kind = below(5);
    note(A.dtype().str() + ", reduction " + std::to_string(kind));
    IterVar k = reduce_axis({0, m}, "k"), r = reduce_axis({0, n}, "r");
    if (kind == 0) {
      // x -> a * x + b: composed in order.
      const Reducer affine = comm_reducer(
          [](Args x, Args y) {
            return List{x[0] * y[0], x[1] * y[0] + y[1]};
          },
          [this](std::span<const DataType>) {
            return List{constant(1), constant(0)};
          });
      return compute_multi(
          {n, 1}, {"i", "j"},
          [&](Var i, Var) {
            return affine({A(r, k), A(r, k) + cast(A.dtype(), i)}, {r, k});
          },
          "R");
    }
    if (kind == 1) {
      const Reducer first_largest = comm_reducer(
          [](Args x, Args y) -> List {
            return {tir::select(x[1] >= y[1], x[0], y[0]), tir::select(x[1] >= y[1], x[1], y[1])};
          },
          [](std::span<const DataType> t) -> List {
            return {tir::make_const(t[0], -1), tir::min_value(t[1])};
          });
      return compute_multi(
          {n, 1}, {"i", "j"},
          [&](Var i, Var) {
            return first_largest({k, A(i, k)}, {k});
          },
          "R");
    }
    ReduceOptions options;
    if (chance(3)) options.init = {Expr(3)};
    const auto make = [&](const std::function<Expr(Var)>& body) {
      return std::vector<Tensor>{compute(
          {n, 1}, {"i", "j"}, [&](Var i, Var) { return body(i); }, "R")};
    };
    if (kind == 2) {
      return make([&](Var i) {
        IterVar limited = reduce_axis({0, tir::min(i + 1, m)}, "limited");
        return any_reducer(i)(A(i, limited), {limited}, options);
      });
    }
    if (kind == 3) {
      IterVar inner = reduce_axis({0, k + 1}, "inner");
      return make([&](Var i) {
        return any_reducer(i)(A(i, k) * A(i, inner), {k, inner}, options);
      });
    }
    return make([&](Var i) {
      if (chance(2)) options.where = k <= i;
      return any_reducer(i)(A(r, k) + cast(A.dtype(), i), {r, k}, options);
    });
  }

  void change(const Stage& stage) {
    std::vector<IterVar> loops = stage.leaf_iter_vars();
    const IterVar axis = pick(loops);
    switch (below(4)) {
      case 0:
        note("split " + axis.name());
        return attempt([&] { stage.split(axis, 1 + below(4)); });
      case 1:
        note("split_by_nparts " + axis.name());
        return attempt([&] { stage.split_by_nparts(axis, 1 + below(4)); });
      case 2: {
        const std::size_t n = static_cast<std::size_t>(below(static_cast<int>(loops.size())));
        if (n + 1 == loops.size()) return;
        note("fuse " + loops[n].name() + " " + loops[n + 1].name());
        return attempt([&] { stage.fuse(loops[n], loops[n + 1]); });
      }
      default:
        std::shuffle(loops.begin(), loops.end(), random_);
        note("reorder");
        for (const IterVar& loop : loops) log_ += " " + loop.name();
        return attempt([&] { stage.reorder(loops); });
    }
  }

  void bind(const Stage& stage) {
    const IterVar axis = pick(stage.leaf_iter_vars());
    note("bind " + axis.name());
    attempt([&] { stage.bind(axis, thread_axis("threadIdx.x")); });
  }

  std::mt19937 random_;
  std::optional<Tensor> input_, output_;
  std::vector<Tensor> reduction_;
  std::string log_;
};

using Bytes = std::vector<unsigned char>;

/// Zeros, ends of the type, small and arbitrary numbers.
Bytes values_of(const Tensor& tensor, unsigned seed) {
  std::size_t count = 1;
  for (const Expr& extent : tensor.shape())
    count *= static_cast<std::size_t>(*tir::constant_int(extent));
  const std::size_t width = static_cast<std::size_t>(tensor.dtype().bits) / 8;
  Bytes bytes(count * width);
  std::mt19937_64 random(seed);
  const std::uint64_t lowest = std::uint64_t{1} << (tensor.dtype().bits - 1);
  for (std::size_t n = 0; n < count; ++n) {
    const std::uint64_t choices[] = {random(), lowest, lowest - 1, random() % 3,
                                     random() % 200 - 100};
    std::memcpy(&bytes[n * width], &choices[random() % 5], width);
  }
  return bytes;
}

Bytes run(const Schedule& s, const std::vector<Tensor>& arguments, unsigned seed) {
  const StageGraph graph = freeze(s);
  const tir::PrimFunc func = schedule_ops(
      graph, infer_bound(graph), std::vector<FunctionArgument>(arguments.begin(), arguments.end()));
  std::vector<Bytes> memory;
  std::vector<tir::HostValue> values;
  for (const Tensor& tensor : arguments) memory.push_back(values_of(tensor, seed));
  for (std::size_t n = 0; n < memory.size(); ++n) {
    std::vector<std::int64_t> shape;
    for (const Expr& extent : arguments[n].shape()) shape.push_back(*tir::constant_int(extent));
    values.push_back(tir::HostArray{memory[n].data(), arguments[n].dtype(), shape});
  }
  tir::evaluate(func, values, {.check_uninitialized = true});
  return memory.back();
}

class RandomReducer : public ::testing::TestWithParam<unsigned> {};

TEST_P(RandomReducer, GivesTheSameUnderEverySchedule) {
  constexpr unsigned kPerCase = 200;
  int ran = 0;
  for (unsigned seed = GetParam() * kPerCase; seed < (GetParam() + 1) * kPerCase; ++seed) {
    ReducerGenerator generator(seed);
    const Bytes expected = run(generator.plain(), generator.arguments(), seed);
    try {
      EXPECT_EQ(run(generator.scheduled(), generator.arguments(), seed), expected)
          << "seed " << seed << "\n"
          << generator.log();
      ++ran;
    } catch (const ScheduleError&) {
    } catch (const BoundError&) {
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what() << "\nseed " << seed << "\n" << generator.log();
    }
  }
  EXPECT_GT(ran, static_cast<int>(kPerCase) / 2);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomReducer, ::testing::Range(0u, 10u));

}  // namespace
}  // namespace tenon::te
