// The order of loops: reducers that depend on it, and ranges that depend on other axes.
#include <gtest/gtest.h>

#include "tenon/arith/reducer_laws.h"
#include "tenon/te/reduce.h"
#include "tests/common/refusal.h"
#include "tests/common/run_schedule.h"
#include "tests/common/ways_to_run.h"

namespace tenon::te {
namespace {

using tenon::testing::refuses;

using Pair = std::span<const Var>;
using List = std::vector<Expr>;

/// A reducer of one component from its combination and its identity.
Reducer reducer(const std::function<Expr(Expr, Expr)>& combine, int identity) {
  return comm_reducer(
      [=](Pair x, Pair y) { return List{combine(x[0], y[0])}; },
      [=](std::span<const DataType> t) { return List{tir::make_const(t[0], identity)}; }, "r");
}

// ---- laws of reducers ---------------------------------------------------------------------------

std::optional<std::string> counterexample(const std::function<Expr(Expr, Expr)>& combine,
                                          int identity, arith::ReductionChange change,
                                          DataType type = Int(32), bool has_init = false) {
  const Tensor A = placeholder({8}, "A", type);
  const IterVar k = reduce_axis({0, 8}, "k");
  const Expr body = reducer(combine, identity)(A(k), {k});
  const tir::ReduceNode& reduction = *body.as<tir::Reduce>()->reduction;
  return arith::find_counterexample(*reduction.combiner, reduction.source, has_init, change);
}

constexpr arith::ReductionChange kRegroups{.regroups = true};
constexpr arith::ReductionChange kReorders{.reorders = true};
constexpr arith::ReductionChange kBoth{.regroups = true, .reorders = true};

TEST(ReducerLaws, SumsAndExtremaAndBitwiseReducersHoldForEveryType) {
  for (const DataType type : {Int(8), Int(32), Int(64), UInt(8), UInt(64), Float(32), Float(16)}) {
    EXPECT_FALSE(counterexample([](Expr x, Expr y) { return x + y; }, 0, kBoth, type));
    EXPECT_FALSE(counterexample([](Expr x, Expr y) { return x * y; }, 1, kBoth, type));
    EXPECT_FALSE(counterexample([](Expr x, Expr y) { return tir::max(x, y); }, 0, kBoth, type));
    // The written-out maximum is no known operator, and is tried.
    EXPECT_FALSE(
        counterexample([](Expr x, Expr y) { return select(x > y, x, y); }, -0, kBoth, type));
  }
  EXPECT_FALSE(counterexample([](Expr x, Expr y) { return x ^ y; }, 0, kBoth));
}

TEST(ReducerLaws, SumsOfFloatsWithOneLimitAreNotRegroupedAtAnyLimit) {
  for (const DataType type : {Float(16), BFloat(16), Float(32), Float(64)})
    for (const int limit : {10, 100, 1000, 30000}) {
      const auto limited = [&](Expr x, Expr y) {
        return tir::min(x + y, tir::make_const(type, limit));
      };
      EXPECT_TRUE(counterexample(limited, 0, kRegroups, type)) << type.str() << " " << limit;
      EXPECT_TRUE(counterexample(limited, 0, kReorders, type)) << type.str() << " " << limit;
    }
}

TEST(ReducerLaws, TermsThatAreComputedFromAnAxisMayBeNegativeAndFall) {
  const IterVar k = reduce_axis({0, 16}, "k");
  const Reducer limited = reducer([](Expr x, Expr y) { return tir::min(x + y, 100); }, 0);
  for (const Expr& term : List{select(k < 8, Expr(50), Expr(-50)), 700 - k * 100, k * 20 - 200}) {
    const Expr body = limited(term, {k});
    const tir::ReduceNode& reduction = *body.as<tir::Reduce>()->reduction;
    EXPECT_TRUE(
        arith::find_counterexample(*reduction.combiner, reduction.source, false, kRegroups));
  }
}

TEST(ReducerLaws, FunctionsThatTheInterpreterDoesNotKnowKeepTheOrder) {
  const auto difference = [](Expr x, Expr y) {
    return tir::call_pure_extern(Float(32), "fdimf", x, y);
  };
  EXPECT_TRUE(counterexample(difference, 0, kRegroups, Float(32)));
}

TEST(ReducerLaws, SaturatingSumsAreNotRegroupedAtAnyLimit) {
  for (const int limit : {10, 127, 1000, 1 << 30}) {
    const auto saturated = [&](Expr x, Expr y) { return tir::max(tir::min(x + y, limit), -limit); };
    EXPECT_TRUE(counterexample(saturated, 0, kRegroups)) << limit;
    EXPECT_TRUE(counterexample(saturated, 0, kReorders)) << limit;
  }
}

TEST(ReducerLaws, SaturatingSumsOfOneSignHold) {
  const auto saturated = [](Expr x, Expr y) {
    return select(x > Expr(tir::make_const(UInt(8), 255)) - y, Expr(tir::make_const(UInt(8), 255)),
                  x + y);
  };
  EXPECT_FALSE(counterexample(saturated, 0, kBoth, UInt(8)));
}

TEST(ReducerLaws, AConstantMayReachALimitInAPartialResult) {
  // 12 terms and 6 terms make 96 + 48 < 0, and 13 terms 100.
  const auto saturated = [](Expr x, Expr y) { return tir::max(tir::min(x + y, 100), 0); };
  const IterVar k = reduce_axis({0, 30}, "k");
  for (const Expr& term : {tir::make_const(Int(8), 8), tir::cast(Int(8), k)}) {
    const Expr body = reducer(saturated, 0)(term, {k});
    const tir::ReduceNode& reduction = *body.as<tir::Reduce>()->reduction;
    EXPECT_TRUE(
        arith::find_counterexample(*reduction.combiner, reduction.source, false, kRegroups));
  }
}

TEST(ReducerLaws, TheLastTermMayBeRegroupedButNotReordered) {
  const auto last = [](Expr x, Expr y) { return select(y != 0, y, x); };
  EXPECT_FALSE(counterexample(last, 0, kRegroups));
  EXPECT_TRUE(counterexample(last, 0, kReorders));
}

TEST(ReducerLaws, ADifferenceMayBeReorderedButNotRegrouped) {
  const auto minus = [](Expr x, Expr y) { return x - y; };
  EXPECT_FALSE(counterexample(minus, 0, kReorders));
  EXPECT_TRUE(counterexample(minus, 0, kRegroups));
}

TEST(ReducerLaws, AnIdentityThatIsNotNeutralIsNotRepeated) {
  EXPECT_TRUE(counterexample([](Expr x, Expr y) { return x + y; }, 1, kRegroups));
  EXPECT_FALSE(counterexample([](Expr x, Expr y) { return x + y; }, 1, kReorders));
  // Once or many times 0, the result is the same, unless it does not start from it.
  const auto largest = [](Expr x, Expr y) { return tir::max(x, y); };
  EXPECT_FALSE(counterexample(largest, 0, kRegroups));
  EXPECT_TRUE(counterexample(largest, 0, kRegroups, Int(32), /*has_init=*/true));
}

TEST(ReducerLaws, MeansOfFloatsAreNotRegrouped) {
  EXPECT_TRUE(
      counterexample([](Expr x, Expr y) { return (x + y) * 0.5f; }, 0, kRegroups, Float(32)));
}

// ---- primitives that ask ------------------------------------------------------------------------

/// An argmax in which the first of equal values wins.
struct FirstLargest : ::testing::Test {
  Tensor A = placeholder({4, 24}, "A", Int(32));
  IterVar k = reduce_axis({0, 24}, "k");
  Reducer argmax = comm_reducer(
      [](Pair x, Pair y) -> List {
        return {tir::select(x[1] >= y[1], x[0], y[0]), tir::select(x[1] >= y[1], x[1], y[1])};
      },
      [](std::span<const DataType> t) -> List {
        return {tir::make_const(t[0], -1), tir::min_value(t[1])};
      },
      "argmax");
  std::vector<Tensor> T = compute_multi(
      {4}, {"i"},
      [&](Var i) {
        return argmax({k, A(i, k)}, {k});
      },
      "T");
  Schedule s = create_schedule(T[0]);
  Stage::SplitAxes parts = s[T[0]].split(k, 5);
};

TEST_F(FirstLargest, IsFactoredWhereTheOrderIsKept) {
  s.rfactor(T, parts.outer);
  EXPECT_EQ(tenon::testing::compare_with_default(s, {A, T[0], T[1]}), "");
}

TEST_F(FirstLargest, IsNotFactoredAcrossTheOrder) {
  EXPECT_TRUE(refuses<ScheduleError>([&] { s.rfactor(T, parts.inner); },
                                     {"rfactor", "`k.inner`", "`argmax`", "order"}));
}

TEST_F(FirstLargest, IsNotReordered) {
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[T[0]].reorder(parts.inner, parts.outer); },
                                     {"reorder", "`k.inner`", "`argmax`", "order"}));
  s[T[0]].reorder(parts.outer, parts.inner, s[T[0]].axis(0));
  EXPECT_EQ(tenon::testing::compare_with_default(s, {A, T[0], T[1]}), "");
}

TEST_F(FirstLargest, IsSharedOutToThreadsInItsOrder) {
  const IterVar tx = thread_axis("threadIdx.x");
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[T[0]].bind(parts.inner, tx); },
                                     {"bind", "`k.inner`", "`argmax`", "order"}));
  s[T[0]].bind(parts.outer, tx);
  EXPECT_EQ(testing::run(s, {A, T[0], T[1]}), testing::run(create_schedule(T[0]), {A, T[0], T[1]}));
}

TEST(ThreadReduction, StartsFromAnIdentityThatIsNotNeutral) {
  Tensor A = placeholder({2, 4}, "A");
  IterVar k = reduce_axis({0, 4}, "k");
  const Reducer at_least = reducer([](Expr x, Expr y) { return tir::max(x, y); }, 100);
  Tensor C = compute(
      {2}, {"i"}, [&](Var i) { return at_least(A(i, k), {k}); }, "C");
  Schedule s = create_schedule(C);
  s[C].bind(k, thread_axis("threadIdx.x"));
  EXPECT_EQ(testing::run(s, {A, C})[1], testing::Array(2, 100));
}

// ---- ranges that depend on other axes -----------------------------------------------------------

struct Triangle : ::testing::Test {
  Tensor L = placeholder({9, 9}, "L"), X = placeholder({9}, "X");
  std::optional<IterVar> j;
  Tensor Y = compute(
      {9}, {"i"},
      [&](Var i) {
        j = reduce_axis({0, i + 1}, "j");
        return sum(L(i, *j) * X(*j), {*j});
      },
      "Y");
  Schedule s = create_schedule(Y);
  IterVar i = s[Y].axis(0);
};

TEST_F(Triangle, RowsStayOutsideOfTheLoopThatTheyLimit) {
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[Y].reorder(*j, i); },
                                     {"reorder", "`Y`", "range of axis `j`", "axis `i`"}));
  const auto [outer, inner] = s[Y].split(i, 4);
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[Y].reorder(outer, *j, inner); },
                                     {"reorder", "`Y`", "`i.inner`", "outside", "`j`"}));
  s[Y].reorder(inner, outer, *j);
  EXPECT_EQ(testing::run(s, {L, X, Y}), testing::run(create_schedule(Y), {L, X, Y}));
}

TEST_F(Triangle, AreNotFusedWithTheLoopThatTheyLimit) {
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[Y].fuse(i, *j); },
                                     {"fuse", "`i`", "`Y`", "range of axis `j`"}));
}

TEST_F(Triangle, ALimitedAxisIsNoDimensionOfPartialResults) {
  EXPECT_TRUE(refuses<ScheduleError>([&] { s.rfactor(Y, *j); },
                                     {"rfactor", "`j`", "`Y`", "depends on axis `i`"}));
  const auto [outer, inner] = s[Y].split(*j, 4);
  s.rfactor(Y, inner);
  EXPECT_EQ(testing::run(s, {L, X, Y}), testing::run(create_schedule(Y), {L, X, Y}));
}

TEST_F(Triangle, AProducerInsideOfFusedRowsReadsACopyThatHoldsAllOfThem) {
  Tensor B = compute(
      {9, 9}, {"x", "y"}, [&](Var x, Var y) { return L(x, y) * 2.0f; }, "B");
  Tensor C = compute(
      {9, 2}, {"i", "j"},
      [&](Var row, Var column) {
        IterVar k = reduce_axis({0, row + 1}, "k");
        return sum(B(row, k) + column, {k});
      },
      "C");
  Schedule t = create_schedule(C);
  t.cache_read(L, "global", {B.op()});
  t[C].fuse(t[C].axis(0), t[C].axis(1));
  t[B].compute_at(t[C], t[C].reduce_axis(0));
  EXPECT_EQ(testing::run(t, {L, C}), testing::run(create_schedule(C), {L, C}));
}

TEST(DependentRanges, ComeAfterTheAxesThatTheyDependOn) {
  Tensor A = placeholder({8, 8}, "A");
  IterVar k = reduce_axis({0, 8}, "k"), l = reduce_axis({0, k + 1}, "l");
  const auto make = [&](std::vector<IterVar> axes) {
    return compute(
        {1}, {"i"}, [&](Var) { return sum(A(k, l), axes); }, "C");
  };
  EXPECT_TRUE(refuses<TypeError>([&] { make({l, k}); }, {"`C`", "`l`", "depends on `k`"}));
  make({k, l});
}

TEST(EmptyRanges, TwoReductionsThatEndBeforeTheyBeginRunNothingWhenFused) {
  Var n("n"), m("m");
  IterVar a = reduce_axis({0, n}, "a"), b = reduce_axis({0, m}, "b");
  Tensor C = compute(
      {1}, {"i"},
      [&](Var) {
        return sum(tir::make_const(Float(32), 1), {a, b});
      },
      "C");
  Schedule s = create_schedule(C);
  s[C].fuse(a, b);
  for (const auto& [rows, columns] : {std::pair(-2, -3), std::pair(2, -3), std::pair(2, 3)}) {
    const float expected = rows > 0 && columns > 0 ? 6 : 0;
    const StageGraph graph = freeze(s);
    const tir::PrimFunc func = schedule_ops(graph, infer_bound(graph), {C, n, m});
    float result = -1;
    tir::evaluate(func, std::vector<tir::HostValue>{tir::HostArray{&result, Float(32), {1}},
                                                    std::int64_t{rows}, std::int64_t{columns}});
    EXPECT_EQ(result, expected) << rows << " " << columns;
  }
}

// ---- lists of axes ------------------------------------------------------------------------------

TEST(AxisLists, NeedNoBraces) {
  Tensor A = placeholder({4, 4, 4}, "A");
  Tensor B = compute(
      {4, 4, 4}, {"i", "j", "k"}, [&](Var i, Var j, Var k) { return A(i, j, k); }, "B");
  Schedule s = create_schedule(B);
  const IterVar i = s[B].axis(0), j = s[B].axis(1), k = s[B].axis(2);
  s[B].reorder(k, j, i);
  EXPECT_TRUE(s[B].leaf_iter_vars().front().same_as(k));
  EXPECT_TRUE(s[B].fuse(k, j, i).same_as(s[B].leaf_iter_vars().front()));
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[B].reorder(i, j); }, {"reorder", "`i`", "fused"}));
}

}  // namespace
}  // namespace tenon::te
