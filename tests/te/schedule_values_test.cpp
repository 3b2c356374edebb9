// Rewrites after uneven splits, of parts, and of several reductions: the values stay, and nothing
// is read that is not there (the interpreter refuses it).
#include <gtest/gtest.h>

#include "tenon/te/reduce.h"
#include "tenon/te/schedule_ops.h"
#include "tenon/tir/builder.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {

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

}  // namespace tenon::te
