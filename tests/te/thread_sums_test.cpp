// Reductions that threads make together: who gets the total, and what is refused.
#include <gtest/gtest.h>

#include "refused_threads.h"
#include "tenon/te/freeze.h"
#include "tenon/te/infer_bound.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/print.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {
namespace {

/// B[i, j] = A[i, j] / sum(A[i, k]): each row is divided by what it sums up to.
struct NormalizedRowsTest : ::testing::Test {
  Tensor A = placeholder({5, 12}, "A");
  IterVar k = reduce_axis({0, 12}, "k");
  Tensor S = compute(
      {5}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "S");
  Tensor B = compute(
      {5, 12}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) / S(i); }, "B");
  Schedule s = create_schedule(B);
  IterVar bx = thread_axis("blockIdx.x"), tx = thread_axis("threadIdx.x");

  void expect_same_values() {
    EXPECT_EQ(testing::run(s, {A, B}), testing::run(create_schedule(B), {A, B}));
  }
};

TEST_F(NormalizedRowsTest, EveryThreadHasTheSumThatAllMakeTogether) {
  s[B].bind(s[B].axis(0), bx).bind(s[B].axis(1), tx);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], s[B].axis(1));
  expect_same_values();
}

TEST_F(NormalizedRowsTest, ASumOfPartsThatThreadsMakeByThemselves) {
  auto [jo, ji] = s[B].split(s[B].axis(1), 4);
  s[B].bind(s[B].axis(0), bx).bind(ji, tx);
  auto [ko, ki] = s[S].split(s[S].reduce_axis(0), 4);
  s[S].bind(ki, tx).compute_at(s[B], ji);
  expect_same_values();
}

TEST_F(NormalizedRowsTest, FewerThreadsMakeTheSumThanReadIt) {
  s[B].bind(s[B].axis(0), bx).bind(s[B].axis(1), tx);
  auto [ko, ki] = s[S].split(s[S].reduce_axis(0), 5);
  s[S].bind(ki, tx).compute_at(s[B], s[B].axis(1));
  expect_same_values();
}

TEST_F(NormalizedRowsTest, MoreThreadsMakeTheSumThanReadIt) {
  auto [jo, ji] = s[B].split(s[B].axis(1), 4);
  s[B].bind(s[B].axis(0), bx).bind(ji, tx);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], ji);
  expect_same_values();
}

TEST_F(NormalizedRowsTest, PartialSumsInEachThreadsOwnMemory) {
  s[B].bind(s[B].axis(0), bx).bind(s[B].axis(1), tx);
  auto [ko, ki] = s[S].split(s[S].reduce_axis(0), 5);
  Tensor R = s.rfactor(S, ki);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], s[B].axis(1));
  s[R].compute_at(s[S], s[S].reduce_axis(0));
  expect_same_values();
}

TEST_F(NormalizedRowsTest, SeveralRowsInEachThreadsOwnMemory) {
  auto [io, ii] = s[B].split(s[B].axis(0), 2);
  s[B].reorder({io, s[B].axis(1), ii}).bind(io, bx).bind(s[B].axis(1), tx);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], s[B].axis(1));
  expect_same_values();
}

TEST_F(NormalizedRowsTest, ASumOfWhatEachThreadKeepsForItself) {
  Tensor R = s.cache_read(A, "local", {S});
  s[B].bind(s[B].axis(0), bx).bind(s[B].axis(1), tx);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], s[B].axis(1));
  s[R].compute_at(s[B], s[B].axis(1));
  expect_same_values();
}

TEST_F(NormalizedRowsTest, WhatThreadsKeepForASumThatMoreOfThemMake) {
  // R is read for B by 4 threads, and for S by all 12.
  Tensor R = s.cache_read(A, "local", {S, B});
  auto [jo, ji] = s[B].split(s[B].axis(1), 4);
  s[B].bind(s[B].axis(0), bx).bind(ji, tx);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], ji);
  s[R].compute_at(s[B], ji);
  expect_same_values();
}

TEST(ThreadSums, OfSumsThatEachThreadMakesForItself) {
  // Inside of a loop of the reduction that threads share, all that B has is kept by each of them.
  Tensor A = placeholder({6, 5}, "A");
  IterVar k = reduce_axis({0, 5}, "k"), r = reduce_axis({0, 3}, "r"), q = reduce_axis({0, 6}, "q");
  Tensor B = compute(
      {6}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "B");
  Tensor C = compute(
      {2}, {"i"},
      [&](Var i) {
        return sum(B(q) + cast(Float(32), r + i), {r, q});
      },
      "C");
  Schedule s = create_schedule(C);
  s[C].bind(q, thread_axis("threadIdx.x"));
  s[B].compute_at(s[C], r);
  EXPECT_EQ(testing::run(s, {A, C}), testing::run(create_schedule(C), {A, C}));
}

TEST(ThreadSums, OfWhatDiffersFromThreadToThreadAreRefused) {
  // Thread j wants the sum of row j, but the threads would make one of all their rows.
  Tensor A = placeholder({8, 8}, "A");
  IterVar k = reduce_axis({0, 8}, "k");
  Tensor S = compute(
      {8}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "S");
  Tensor B = elementwise(S, "B");
  IterVar tx = thread_axis("threadIdx.x");
  Schedule s = create_schedule(B);
  s[B].bind(s[B].axis(0), tx);
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], s[B].axis(0));
  expect_refused(s, {"bind of axis `k` of stage `S`", "`threadIdx.x`", "each thread",
                     "set_scope(\"shared\")"});
  s[S].set_scope("shared");
  EXPECT_EQ(testing::run(s, {A, B}), testing::run(create_schedule(B), {A, B}));
}

TEST(ThreadSums, OfWhatDiffersFromThreadToThreadOfAReaderAreRefused) {
  // The threads of B's columns stand around S as well, and each wants the sum of its own column.
  Tensor A = placeholder({3, 8, 2}, "A");
  IterVar k = reduce_axis({0, 2}, "k");
  Tensor S = compute(
      {3, 8}, {"i", "j"}, [&](Var i, Var j) { return sum(A(i, j, k), {k}); }, "S");
  Tensor B = elementwise(S, "B");
  Schedule s = create_schedule(B);
  s[B].bind(s[B].axis(0), thread_axis("blockIdx.x"));
  s[B].bind(s[B].axis(1), thread_axis("threadIdx.x"));
  s[S].set_scope("local").compute_at(s[B], s[B].axis(0));
  s[S].bind(s[S].reduce_axis(0), thread_axis("threadIdx.x"));
  expect_refused(s, {"bind of axis `k` of stage `S`", "`threadIdx.x`", "another sum"});
  s[S].set_scope("shared");
  EXPECT_EQ(testing::run(s, {A, B}), testing::run(create_schedule(B), {A, B}));
}

TEST(ThreadSums, OfWhatDiffersByALoopThatDiffersAreRefused) {
  // The part of B that a thread needs, and with it the element of S, is the thread's own.
  Tensor A = placeholder({8, 8}, "A");
  IterVar k = reduce_axis({0, 8}, "k"), r = reduce_axis({0, 3}, "r");
  Tensor S = compute(
      {8}, {"i"}, [&](Var i) { return sum(A(i, k), {k}); }, "S");
  Tensor B = elementwise(S, "B");
  Tensor C = compute(
      {6}, {"i"}, [&](Var i) { return sum(B(i + r), {r}); }, "C");
  IterVar tx = thread_axis("threadIdx.x");
  Schedule s = create_schedule(C);
  s[C].bind(s[C].axis(0), tx);
  s[B].compute_at(s[C], s[C].axis(0));
  s[S].bind(s[S].reduce_axis(0), tx).compute_at(s[B], s[B].axis(0));
  expect_refused(s, {"bind of axis `k` of stage `S`", "`threadIdx.x`", "each thread"});
}

TEST(ThreadSums, ThreadsComeToThemEquallyOften) {
  // The loop over B is longer in some threads than in others.
  Tensor A = placeholder({6, 5}, "A");
  IterVar k = reduce_axis({0, 6}, "k"), r = reduce_axis({0, 5}, "r");
  Tensor S = compute(
      {5}, {"i"}, [&](Var i) { return sum(A(r, i), {r}); }, "S");
  Tensor B = compute(
      {6, 5}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + S(j); }, "B");
  Tensor C = compute(
      {6, 5}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) + B(0, j); }, "C");
  Schedule s = create_schedule(C);
  IterVar tx = thread_axis("threadIdx.x");
  s[C].bind(s[C].axis(0), tx);
  s[B].compute_at(s[C], s[C].axis(1));
  s[S].compute_at(s[B], s[B].axis(0)).bind(r, tx);
  expect_refused(s, {"compute_at of stage `S`", "`threadIdx.x`", "`i` of stage `B`"});
}

TEST(ThreadSums, ThePositionOfTheGreatestByThreads) {
  Tensor A = placeholder({3, 16}, "A");
  auto argmax = comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        Expr left = x[1] > y[1] || (x[1] == y[1] && x[0] < y[0]);
        return {tir::select(left, x[0], y[0]), tir::select(left, x[1], y[1])};
      },
      [](std::span<const DataType> t) -> std::vector<Expr> {
        return {tir::max_value(t[0]), tir::min_value(t[1])};
      },
      "argmax");
  IterVar k = reduce_axis({0, 16}, "k");
  std::vector<Tensor> T = compute_multi(
      {3}, {"i"},
      [&](Var i) {
        return argmax({k, A(i, k)}, {k});
      },
      "T");
  Tensor B = compute(
      {3}, {"i"}, [&](Var i) { return T[0](i).astype(Float(32)); }, "B");
  Schedule s = create_schedule(B);
  IterVar bx = thread_axis("blockIdx.x"), tx = thread_axis("threadIdx.x");
  auto [ko, ki] = s[T[0]].split(s[T[0]].reduce_axis(0), 4);
  std::vector<Tensor> R = s.rfactor(T, ki);
  IterVar row = s[B].axis(0);
  auto [io, ii] = s[B].split(row, 1);
  s[B].bind(io, bx).bind(ii, tx).set_store_predicate(tx.var() == 0);
  s[T[0]].compute_at(s[B], ii).bind(s[T[0]].reduce_axis(0), tx);
  s[R[0]].compute_at(s[T[0]], s[T[0]].reduce_axis(0));
  EXPECT_EQ(testing::run(s, {A, B}), testing::run(create_schedule(B), {A, B}));
}

}  // namespace
}  // namespace tenon::te
