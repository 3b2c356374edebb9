// Schedules that nobody planned: each works, or is refused with the reason.
#include <gtest/gtest.h>

#include "tenon/te/stage_data.h"
#include "tests/common/refusal.h"
#include "tests/common/ways_to_run.h"
#include "tests/errors/programs.h"

namespace tenon::testing {
namespace {

// ---- orders of primitives -----------------------------------------------------------------------

// Primitives in orders that nobody planned, and on stages of unusual size: each order computes what
// the default schedule computes, in the interpreter and compiled.

using te::Expr;
using te::IterVar;
using te::Tensor;

std::vector<Expr> swapped(Var i, Var j) { return {j, i}; }

struct UnplannedOrderTest : Chain {
  struct Order {
    const char* name;
    std::function<void()> apply;
  };

  void expect_same(const std::vector<Order>& orders) {
    for (const Order& order : orders) {
      s = te::create_schedule(D);
      order.apply();
      EXPECT_EQ(compare_with_default(s, args), "") << order.name;
    }
  }
};

TEST_F(UnplannedOrderTest, TheLastWordOnWhereAStageIsComputedCounts) {
  const IterVar i = s[C].axis(0);
  expect_same({
      {"inline after compute_at", [&] { s[B].compute_at(s[C], i).compute_inline(); }},
      {"compute_at after inline", [&] { s[B].compute_inline().compute_at(s[C], i); }},
      {"root after inline", [&] { s[B].compute_inline().compute_root(); }},
      {"compute_at twice", [&] { s[B].compute_at(s[C], k).compute_at(s[C], i); }},
      {"loops of its place change places",
       [&] {
         s[B].compute_at(s[C], k), s[C].reorder({k, i});
       }},
  });
}

TEST_F(UnplannedOrderTest, CachesAndInlining) {
  expect_same({
      {"cache_read of what is inlined",
       [&] { s[B].compute_inline(), s.cache_read(B, "local", {C.op()}); }},
      {"inline what is cached", [&] { s.cache_read(B, "local", {C.op()}), s[B].compute_inline(); }},
      {"inline the cache", [&] { s[s.cache_read(B, "local", {C.op()})].compute_inline(); }},
      {"cache_write of what is inlined", [&] { s[B].compute_inline(), s.cache_write(B, "local"); }},
      {"inline the copy", [&] { s.cache_write(B, "local"), s[B].compute_inline(); }},
      {"inline the cache behind the copy", [&] { s[s.cache_write(B, "local")].compute_inline(); }},
      {"cache_write twice", [&] { s.cache_write(B, "local"), s.cache_write(B, "local"); }},
      {"one reader named twice",
       [&] {
         s.cache_read(B, "local", {C.op(), C.op()});
       }},
  });
}

TEST_F(UnplannedOrderTest, WhatIsSaidOfAnInlinedStageChangesNothing) {
  const IterVar i = s[B].axis(0), j = s[B].axis(1);
  expect_same({
      {"set_scope", [&] { s[B].compute_inline().set_scope("shared"); }},
      {"double_buffer", [&] { s[B].compute_inline().double_buffer(); }},
      {"rolling_buffer", [&] { s[B].compute_inline().rolling_buffer(); }},
      {"storage_align", [&] { s[B].compute_inline().storage_align(i, 8, 1); }},
      {"split", [&] { s[B].compute_inline().split(i, 3); }},
      {"vectorize before", [&] { s[B].vectorize(j).compute_inline(); }},
      {"bind before", [&] { s[B].bind(j, te::thread_axis("threadIdx.x")).compute_inline(); }},
      {"transform_layout", [&] { s[B].compute_inline().transform_layout(swapped); }},
      {"transform_layout before", [&] { s[B].transform_layout(swapped), s[B].compute_inline(); }},
  });
}

TEST_F(UnplannedOrderTest, StorageInEveryCombination) {
  const IterVar i = s[B].axis(0), y = s[C].axis(0);
  auto in_virtual_threads = [&] {
    auto [o, inner] = s[C].split(y, 4);
    s[C].bind(o, te::thread_axis("vthread"));
    s[B].compute_at(s[C], inner);
  };
  expect_same({
      {"set_scope after compute_at", [&] { s[B].compute_at(s[C], y).set_scope("shared"); }},
      {"double buffer, padded rows, virtual threads",
       [&] { in_virtual_threads(), s[B].storage_align(i, 8, 1).double_buffer(); }},
      {"rolling buffer at root", [&] { s[B].rolling_buffer(); }},
      {"rolling and double", [&] { s[B].compute_at(s[C], y).rolling_buffer().double_buffer(); }},
      {"rolling in virtual threads", [&] { in_virtual_threads(), s[B].rolling_buffer(); }},
      {"double buffer in an unrolled loop",
       [&] { s[C].unroll(y), s[B].compute_at(s[C], y).double_buffer(); }},
      {"double buffer in a parallel loop",
       [&] { s[C].parallel(y), s[B].compute_at(s[C], y).double_buffer(); }},
      {"double buffer in a vectorized loop",
       [&] { s[D].vectorize(s[D].axis(0)), s[C].compute_at(s[D], s[D].axis(0)).double_buffer(); }},
      {"an offset above the factor", [&] { s[B].storage_align(i, 4, 9); }},
      {"padding of the innermost dimension", [&] { s[B].storage_align(s[B].axis(1), 8, 3); }},
  });
}

TEST_F(UnplannedOrderTest, AnAlignedAxisOfANewLayout) {
  const std::vector<IterVar> axes = s[B].transform_layout(swapped);
  refused([&] { s[B].storage_align(s[B].axis(0), 32, 1); },
          {"storage_align", "`i`", "`B`", "stored output", "`axis0`, `axis1`"});
  s[B].storage_align(axes[0], 32, 1);
  s[B].split(axes[0], 3);
  EXPECT_NE(picture_of(s, args).find("*33)"), std::string::npos) << picture_of(s, args);
  EXPECT_EQ(compare_with_default(s, args), "");
}

TEST_F(UnplannedOrderTest, LayoutsAndLoops) {
  expect_same({
      {"the new loops are split, vectorized, parallel",
       [&] {
         const auto axes = s[B].transform_layout(swapped);
         auto [o, i] = s[B].split(axes[1], 3);
         s[B].vectorize(i).parallel(axes[0]);
       }},
      {"its place is a loop that is transformed",
       [&] {
         s[B].compute_at(s[C], s[C].axis(0));
         s[C].transform_layout([](Var i) {
           return std::vector<Expr>{floormod(i, 4), floordiv(i, 4)};
         });
       }},
      {"double buffer",
       [&] { s[B].compute_at(s[C], k).double_buffer().transform_layout(swapped); }},
      {"rolling buffer",
       [&] { s[B].compute_at(s[C], k).rolling_buffer().transform_layout(swapped); }},
      {"cache_read of it",
       [&] { s[B].transform_layout(swapped), s.cache_read(B, "local", {C.op()}); }},
      {"cache_write of it", [&] { s[B].transform_layout(swapped), s.cache_write(B, "local"); }},
  });
}

TEST_F(UnplannedOrderTest, DataflowRewritesOfRewrites) {
  expect_same({
      {"rfactor twice",
       [&] {
         const Tensor partial = s.rfactor(C, s[C].split(k, 4).inner);
         s.rfactor(partial, s[partial].reduce_axis(0), -1);
       }},
      {"rfactor of what is left",
       [&] { s.rfactor(C, s[C].split(k, 5).inner), s.rfactor(C, s[C].reduce_axis(0)); }},
      {"rfactor of a cache",
       [&] {
         const Tensor cache = s.cache_write(C, "local");
         s.rfactor(cache, s[cache].reduce_axis(0));
       }},
      {"cache_write after rfactor", [&] { s.rfactor(C, k), s.cache_write(C, "local"); }},
      {"rfactor of an attached, double-buffered stage",
       [&] {
         s[C].compute_at(s[D], s[D].axis(0)).set_scope("local").double_buffer();
         s.rfactor(C, s[C].split(k, 4).inner);
       }},
  });
}

TEST_F(UnplannedOrderTest, MarksOfLoopsAroundAndInside) {
  const IterVar i = s[B].axis(0), j = s[B].axis(1);
  expect_same({
      {"parallel in parallel", [&] { s[B].parallel(i).parallel(j); }},
      {"parallel, then vectorized", [&] { s[B].parallel(i).vectorize(i); }},
      {"unrolled inside of vectors", [&] { s[B].vectorize(i).unroll(j); }},
      {"parallel inside of vectors", [&] { s[B].vectorize(i).parallel(j); }},
      {"vectors of sums", [&] { s[C].vectorize(s[C].axis(0)); }},
      {"an unrolled sum inside of a vector",
       [&] { s[D].vectorize(s[D].axis(0)), s[C].compute_at(s[D], s[D].axis(0)).unroll(k); }},
      {"a parallel stage inside of a parallel one",
       [&] { s[C].parallel(s[C].axis(0)), s[B].compute_at(s[C], s[C].axis(0)).parallel(j); }},
  });
}

TEST_F(UnplannedOrderTest, AnIntrinsicAmongOtherMarks) {
  const IterVar i = s[B].axis(0), j = s[B].axis(1);
  const te::TensorIntrin whole = add_one(16);
  expect_same({
      {"inside of vectors", [&] { s[B].vectorize(i).tensorize(j, whole); }},
      {"in a parallel loop", [&] { s[B].parallel(i).tensorize(j, whole); }},
      {"in a virtual thread",
       [&] { s[B].bind(i, te::thread_axis("vthread")).tensorize(j, whole); }},
      {"of a vectorized loop", [&] { s[B].vectorize(j).tensorize(j, whole); }},
      {"of a loop around a vectorized one",
       [&] {
         auto [o, inner] = s[B].split(j, 4);
         s[B].vectorize(inner).tensorize(o, whole);
       }},
      {"twice", [&] { s[B].tensorize(j, whole).tensorize(j, whole); }},
      {"with a tail", [&] { s[B].tensorize(s[B].split(j, 5).inner, add_one(5)); }},
      {"then cached", [&] { s[B].tensorize(j, whole), s.cache_read(B, "local", {C.op()}); }},
      {"then its input is cached",
       [&] { s[B].tensorize(j, whole), s.cache_read(A, "local", {B.op()}); }},
      {"of a cache",
       [&] {
         const Tensor cache = s.cache_write(B, "local");
         s[cache].tensorize(s[cache].axis(1), whole);
       }},
      {"under a condition", [&] { s[B].tensorize(j, whole).set_store_predicate(j >= 0); }},
      {"double buffer of padded rows",
       [&] {
         s[B].compute_at(s[C], s[C].axis(0))
             .storage_align(i, 8, 1)
             .double_buffer()
             .tensorize(j, whole);
       }},
      {"rolling buffer",
       [&] { s[B].compute_at(s[C], s[C].axis(0)).rolling_buffer().tensorize(j, whole); }},
      {"with a prefetch", [&] { s[B].prefetch(A, i, 1).tensorize(j, whole); }},
  });
}

// ---- normalized schedules, copies ---------------------------------------------------------------

TEST_F(UnplannedOrderTest, ANormalizedScheduleIsScheduledOn) {
  const IterVar i = s[B].axis(0);
  auto normalized = [&] { s = s.normalize(); };
  expect_same({
      {"split by the axis taken before", [&] { normalized(), s[B].split(i, 3); }},
      {"twice, then compute_at",
       [&] { normalized(), normalized(), s[B].compute_at(s[C], s[C].axis(0)); }},
      {"cache_write", [&] { normalized(), s.cache_write(B, "local"); }},
      {"cache_read", [&] { normalized(), s.cache_read(B, "local", {C.op()}); }},
      {"rfactor", [&] { normalized(), s.rfactor(C, k); }},
      {"rfactor of a split", [&] { normalized(), s.rfactor(C, s[C].split(k, 5).inner); }},
      {"transform_layout", [&] { normalized(), s[B].transform_layout(swapped); }},
      {"inline", [&] { normalized(), s[B].compute_inline(); }},
  });
}

TEST_F(UnplannedOrderTest, StagesThatNormalizeHasInlinedAreGone) {
  s[B].compute_inline();
  s = s.normalize();
  const IterVar i = s[B].axis(0);
  refused([&] { s[B].split(i, 3); }, {"split", "`B`", "normalize"});
  refused([&] { s[B].compute_root(); }, {"compute_root", "`B`", "normalize"});
  refused([&] { s[B].compute_at(s[C], s[C].axis(0)); }, {"compute_at", "`B`", "normalize"});
  refused([&] { s.cache_write(B, "local"); }, {"cache_write", "`B`", "normalize"});
  refused([&] { s.cache_read(B, "local", {C.op()}); }, {"cache_read", "`B`", "normalize"});
  refused([&] { s.create_group(C, B); }, {"create_group", "`B`", "normalize"});
}

TEST_F(UnplannedOrderTest, AxesOfACopyAreItsOwn) {
  te::Schedule copy = s.copy(), normalized = s.normalize();
  const IterVar inner = copy[B].split(copy[B].axis(0), 4).inner,
                based = normalized[B].leaf_iter_vars()[0];
  refused([&] { s[B].vectorize(inner); }, {"vectorize", "`i.inner`", "`B`", "`i`, `j`"});
  refused([&] { s[B].split(based, 3); }, {"split", "`i`", "`B`", "not part of this stage"});
  refused([&] { s[B].compute_at(copy[C], copy[C].axis(0)); },
          {"compute_at", "`B`", "another schedule"});
}

TEST_F(UnplannedOrderTest, AxesThatARewriteHasReplaced) {
  const IterVar i = s[C].axis(0);
  auto [ko, ki] = s[C].split(k, 4);
  s.rfactor(C, ki);
  refused([&] { s[C].split(i, 3); },
          {"split", "`i`", "`C`", "not part of this stage", "`ax0`, `k.inner.v`"});
  refused([&] { s[C].unroll(ko); }, {"unroll", "`k.outer`", "`C`"});
  refused([&] { s.rfactor(C, ki); }, {"rfactor", "`k.inner`", "`C`"});
  const IterVar j = s[B].split(s[B].axis(1), 3).inner;
  s.cache_write(B, "local");
  refused([&] { s[B].vectorize(j); }, {"vectorize", "`j.inner`", "`B`", "`i`, `j`"});
}

// ---- unusual sizes ------------------------------------------------------------------------------

struct SizeTest : ::testing::TestWithParam<int> {};

TEST_P(SizeTest, EverythingAtOnce) {
  const int n = GetParam();
  Tensor A = te::placeholder({n, 4}, "A");
  Tensor B = te::compute(
      {n, 4}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  Tensor C = te::compute(
      {n, 4}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  auto [yo, xo, yi, xi] = s[C].tile(s[C].axis(0), s[C].axis(1), 3, 3);
  s[C].parallel(yo).unroll(yi).vectorize(xi);
  s[B].compute_at(s[C], xo).double_buffer().storage_align(s[B].axis(0), 8, 1);
  EXPECT_EQ(compare_with_default(s, {A, C}), "");
}

TEST_P(SizeTest, Threads) {
  const int n = GetParam();
  Tensor A = te::placeholder({n, 4}, "A");
  Tensor B = te::compute(
      {n, 4}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  for (const char* tag : {"threadIdx.x", "vthread"}) {
    te::Schedule s = te::create_schedule(B);
    s[B].bind(s[B].axis(0), te::thread_axis(tag));
    EXPECT_EQ(compare_with_default(s, {A, B}, {.compile = false}), "") << tag;
  }
}

TEST_P(SizeTest, Sums) {
  const int n = GetParam();
  Tensor A = te::placeholder({4, n}, "A");
  IterVar k = te::reduce_axis({0, n}, "k");
  Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Schedule factored = te::create_schedule(B);
  factored.rfactor(B, factored[B].split(k, 3).inner);
  EXPECT_EQ(compare_with_default(factored, {A, B}), "");
  te::Schedule across = te::create_schedule(B);
  across[B].bind(k, te::thread_axis("threadIdx.x"));
  EXPECT_EQ(compare_with_default(across, {A, B}, {.compile = false}), "")
      << "threads store sums of nothing, too";
}

INSTANTIATE_TEST_SUITE_P(OfAnAxis, SizeTest, ::testing::Values(0, 1, 2));

TEST(RankZeroTest, EveryPrimitiveThatHasAMeaning) {
  Tensor A = te::placeholder({4}, "A");
  Tensor S = te::compute(
      {}, {}, [&] { return A(0) + 1.0f; }, "S");
  Tensor T = te::compute(
      {4}, {"i"}, [&](Var) { return S() * 2.0f; }, "T");
  const std::vector<std::function<void(te::Schedule&)>> ways = {
      [&](te::Schedule& s) { s[S].vectorize(s[S].fuse(std::vector<IterVar>{})); },
      [&](te::Schedule& s) {
        s[S].parallel(s[S].split(s[S].fuse(std::vector<IterVar>{}), 4).outer);
      },
      [&](te::Schedule& s) {
        const IterVar inner = s[S].fuse(std::vector<IterVar>{}),
                      outer = s[S].fuse(std::vector<IterVar>{});
        s[S].fuse(outer, inner);
      },
      [&](te::Schedule& s) { s[S].compute_at(s[T], s[T].axis(0)).double_buffer(); },
      [&](te::Schedule& s) { s[S].compute_at(s[T], s[T].axis(0)).rolling_buffer(); },
      [&](te::Schedule& s) { s.cache_write(S, "local"), s.cache_read(S, "local", {T.op()}); },
      [&](te::Schedule& s) {
        s[S].transform_layout([](std::span<const Var>) { return std::vector<Expr>{}; });
      },
      [&](te::Schedule& s) { s[S].compute_inline(); },
  };
  for (std::size_t n = 0; n < ways.size(); ++n) {
    te::Schedule s = te::create_schedule(T);
    ways[n](s);
    EXPECT_EQ(compare_with_default(s, {A, T}), "") << n;
  }
}

// ---- schedules on which the reference stops -----------------------------------------------------

// Schedules on which the reference stops or goes wrong without a word: they work here, or are
// refused with the reason.

// A reduction is over axes, which a variable is not.
static_assert(!std::is_convertible_v<Var, te::IterVar>);

struct DeadEndTest : ::testing::Test {
  te::Tensor A = te::placeholder({8, 16}, "A");
  te::Tensor B = te::compute(
      {8, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {8, 16}, {"y", "x"}, [&](Var y, Var x) { return B(y, x) * 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  std::vector<LowerArgument> args = {A, C};

  void expect_same() { EXPECT_EQ(compare_with_default(s, args), ""); }
};

TEST_F(DeadEndTest, ADoubleBufferWithoutAScope) {
  s[B].compute_at(s[C], s[C].axis(0)).double_buffer();
  expect_same();
}

TEST_F(DeadEndTest, ADoubleBufferWithPaddedRows) {
  auto tiles = s[C].tile(s[C].axis(0), s[C].axis(1), 4, 8);
  s[B].compute_at(s[C], tiles.y_outer).storage_align(s[B].axis(0), 8, 1).double_buffer();
  expect_same();
}

TEST_F(DeadEndTest, VectorsInsideOfVectors) {
  s[C].vectorize(s[C].axis(0)).vectorize(s[C].axis(1));
  expect_same();
}

TEST_F(DeadEndTest, ACachedLayoutReadByAnOperationOfSeveralOutputs) {
  std::vector<te::Tensor> T = te::compute_multi(
      {8}, {"i"},
      [&](Var i) {
        return std::vector<Expr>{B(i, 0) + A(i, 1), B(i, 2) * A(i, 3)};
      },
      "T");
  s = te::create_schedule({T[0].op()});
  args = {A, T[0], T[1]};
  te::Tensor cached = s.cache_read(A, "local", {T[0].op()});
  s[cached].compute_at(s[T[0]], s[T[0]].axis(0));
  EXPECT_FALSE(s[T[0]].op().inputs()[1].same_as(A));
  expect_same();
}

TEST_F(DeadEndTest, AThreadThatReplacesAnother) {
  const te::IterVar tx = te::thread_axis("threadIdx.x"), ty = te::thread_axis("threadIdx.y");
  s[C].bind(s[C].axis(0), tx).bind(s[C].axis(0), ty);
  ASSERT_EQ(s.warnings().size(), 1u);
  for (const char* part :
       {"`y`", "`C`", "`threadIdx.x`", "`threadIdx.y`", "unplanned_orders_test.cpp"})
    EXPECT_NE(s.warnings().front().find(part), std::string::npos) << s.warnings().front();
  EXPECT_TRUE(s[C].data().attributes_of(s[C].axis(0))->thread->axis.same_as(ty));
}

TEST_F(DeadEndTest, FactoringALoopOfATransformedReduction) {
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor D = te::compute(
      {8, 4}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * B(j, k), {k}); }, "D");
  s = te::create_schedule(D);
  s[D].transform_layout([](Var i, Var j) { return std::vector<Expr>{j, i}; });
  EXPECT_TRUE(refuses<ScheduleError>([&] { s.rfactor(D, k); }, {"rfactor", "`D`", "first"}));
}

TEST_F(DeadEndTest, FactoringAfterALoopWasMadeParallel) {
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor D = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "D");
  s = te::create_schedule(D);
  auto [ko, ki] = s[D].split(k, 4);
  s[D].parallel(s[D].axis(0));
  EXPECT_TRUE(
      refuses<ScheduleError>([&] { s.rfactor(D, ki); }, {"rfactor", "`i`", "`D`", "rfactor first"}))
      << "the parallel would be lost with the operation whose axis it is about";
}

TEST_F(DeadEndTest, AReductionOfVirtualThreads) {
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor D = te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "D");
  s = te::create_schedule(D);
  EXPECT_TRUE(refuses<ScheduleError>([&] { s[D].bind(k, te::thread_axis("vthread")); },
                                     {"bind", "`k`", "`D`", "virtual threads", "rfactor"}));
}

// ---- results that other threads would not see ---------------------------------------------------

TEST_F(DeadEndTest, AResultThatAnotherThreadReads) {
  const te::IterVar tx = te::thread_axis("threadIdx.x");
  te::Tensor D = te::compute(
      {8, 16}, {"y", "x"}, [&](Var y, Var x) { return B(y, 15 - x) * 2.0f; }, "D");
  s = te::create_schedule(D);
  s[D].bind(s[D].axis(0), te::thread_axis("blockIdx.x")).bind(s[D].axis(1), tx);
  s[B].bind(s[B].axis(1), tx).compute_at(s[D], s[D].axis(0));
  for (const char* scope : {"local", "shared"}) {
    s[B].set_scope(scope);
    EXPECT_EQ(compare_with_default(s, {A, D}, {.compile = false}), "") << scope;
  }
}

TEST_F(DeadEndTest, ResultsOfTwoThreadsInTheMemoryOfOne) {
  const te::IterVar tx = te::thread_axis("threadIdx.x");
  te::Tensor D = te::compute(
      {8, 16}, {"y", "x"}, [&](Var y, Var x) { return B(y, x) + B(y, 15 - x); }, "D");
  s = te::create_schedule(D);
  s[D].bind(s[D].axis(0), te::thread_axis("blockIdx.x")).bind(s[D].axis(1), tx);
  s[B].bind(s[B].axis(1), tx).compute_at(s[D], s[D].axis(0)).set_scope("local");
  EXPECT_TRUE(refuses<Error>(
      [&] {
        lower(s, {A, D});
      },
      {"bind", "`j`", "`B`", "local", "\"shared\""}));
  s[B].set_scope("shared");
  EXPECT_EQ(compare_with_default(s, {A, D}, {.compile = false}), "");
}

TEST_F(DeadEndTest, DeclaredThreadsOfStagesInDifferentPlaces) {
  te::Tensor D = te::compute(
      {8, 16}, {"y", "x"}, [&](Var y, Var x) { return C(y, x) + 1.0f; }, "D");
  s = te::create_schedule(D);
  const te::IterVar eight = te::thread_axis({0, 8}, "threadIdx.x");
  s[C].bind(s[C].axis(1), eight);
  s[D].bind(s[D].axis(1), eight);
  EXPECT_TRUE(refuses<ScheduleError>([&] { lower(s, {A, D}); }, {"`x`", "threadIdx.x", "16", "8"}));
}

}  // namespace
}  // namespace tenon::testing
