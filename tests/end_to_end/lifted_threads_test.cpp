// Stages in memory of each thread that are computed outside of the loop bound to it: the threads
// stand around the stage and its readers, whatever axes they are bound to.
#include <gtest/gtest.h>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

const WaysToRun kInterpreted = {.compile = false};

/// Rows of 8, one for each block, by way of local memory; the 8 threads read elements of a row of
/// 16 that the block fetches together.
struct Rows {
  te::Tensor A = te::placeholder({9, 8}, "A", Int(32)), B = te::placeholder({9, 16}, "B", Int(32));
  te::Tensor fetched = te::compute(
      {9, 16}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) + 1; }, "fetched");
  te::Tensor C = te::compute(
      {9, 8}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + fetched(i, j * 2 + 1); }, "C");
  te::Schedule s = te::create_schedule(C);
  te::Tensor local = s.cache_write(C, "local");
  te::IterVar block = s[C].axis(0), column = s[C].axis(1);
  te::IterVar tx = te::thread_axis("threadIdx.x");

  Rows() {
    s[C].bind(block, te::thread_axis("blockIdx.x")).bind(column, tx);
    s[local].compute_at(s[C], block);
  }

  void fetch_by(const te::IterVar& threads) {
    s[fetched].set_scope("shared").compute_at(s[C], block).bind(s[fetched].axis(1), threads);
  }
  std::string check() const { return compare_with_default(s, {A, B, C}, kInterpreted); }
};

TEST(LiftedThreads, AreThoseOfTheReaderWhereTheStageIsBoundToAnotherAxisOfTheTag) {
  Rows rows;
  rows.s[rows.fetched].compute_inline();
  rows.s[rows.local].bind(rows.s[rows.local].axis(1), te::thread_axis("threadIdx.x"));
  EXPECT_EQ(rows.check(), "");
}

TEST(LiftedThreads, BeyondTheLoopDoNothingWhereTheBlockHasMoreThroughAnotherAxis) {
  Rows rows;
  rows.fetch_by(te::thread_axis("threadIdx.x"));
  rows.s[rows.local].bind(rows.s[rows.local].axis(1), rows.tx);
  EXPECT_EQ(rows.check(), "");
}

TEST(LiftedThreads, BeyondTheLoopDoNothingWhereTheBlockHasMoreThroughTheSameAxis) {
  Rows rows;
  rows.fetch_by(rows.tx);
  rows.s[rows.local].bind(rows.s[rows.local].axis(1), rows.tx);
  EXPECT_EQ(rows.check(), "");
}

/// A row of T, of which D has 5 elements and C, which reads D, 12: elements beyond 12 would be
/// outside of what is kept of `source`.
struct TwoReaders {
  te::Tensor A = te::placeholder({4, 16}, "A", Int(32));
  te::Tensor source = te::compute(
      {4, 16}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 3; }, "source");
  te::Tensor T = te::compute(
      {4, 16}, {"i", "j"}, [&](Var i, Var j) { return source(i, j) - 1; }, "T");
  te::Tensor D = te::compute(
      {4, 5}, {"i", "j"}, [&](Var i, Var j) { return T(i, j) * 2; }, "D");
  te::Tensor C = te::compute(
      {4, 12}, {"i", "j"}, [&](Var i, Var j) { return T(i, j) + D(i, floormod(j, 5)); }, "C");
  te::Schedule s = te::create_schedule(C);
  te::IterVar block = s[C].axis(0), tx = te::thread_axis("threadIdx.x");

  explicit TwoReaders(const te::IterVar& of_d) {
    s[C].bind(block, te::thread_axis("blockIdx.x")).bind(s[C].axis(1), tx);
    s[D].set_scope("shared").compute_at(s[C], block).bind(s[D].axis(1), of_d);
    s[T].set_scope("local").compute_at(s[C], block).bind(s[T].axis(0), tx);
  }
};

TEST(LiftedThreads, AreAsManyAsTheLongestLoopOfAReader) {
  const TwoReaders p(te::thread_axis("threadIdx.x"));
  EXPECT_EQ(compare_with_default(p.s, {p.A, p.C}, kInterpreted), "");
}

TEST(LiftedThreads, StandAroundAChainOfStagesInLocalMemory) {
  TwoReaders p(te::thread_axis("threadIdx.x"));
  p.s[p.source].set_scope("local").compute_at(p.s[p.C], p.block);
  p.s[p.source].bind(p.s[p.source].axis(0), te::thread_axis("threadIdx.x"));
  EXPECT_EQ(compare_with_default(p.s, {p.A, p.C}, kInterpreted), "");
}

/// The thread axis around the stage has the tag, but the reader's part is said in terms of its own.
TEST(LiftedThreads, StandInsideOfAnotherAxisOfTheTag) {
  te::Tensor A = te::placeholder({3, 4, 8}, "A", Int(32));
  te::Tensor T = te::compute(
      {3, 4, 8}, {"i", "j", "k"}, [&](Var i, Var j, Var k) { return A(i, j, k) * 3; }, "T");
  te::Tensor B = te::compute(
      {3, 4, 8}, {"i", "j", "k"}, [&](Var i, Var j, Var k) { return T(i, j, k) + 1; }, "B");
  te::Tensor C = te::compute(
      {3, 8}, {"i", "k"},
      [&](Var i, Var k) { return B(i, 0, k) + B(i, 1, 7 - k) + B(i, 2, k) * B(i, 3, k); }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].bind(s[C].axis(0), te::thread_axis("blockIdx.x"));
  s[C].bind(s[C].axis(1), te::thread_axis("threadIdx.x"));
  s[B].set_scope("shared").compute_at(s[C], s[C].axis(1));
  s[B].bind(s[B].axis(2), te::thread_axis("threadIdx.x"));
  s[T].set_scope("local").compute_at(s[B], s[B].axis(1));
  EXPECT_EQ(compare_with_default(s, {A, C}, kInterpreted), "");
}

/// Two elements are needed at a time, of which the reader's thread would compute one.
TEST(LiftedThreads, OfALayoutMustReachTheElementsThatAreNeeded) {
  te::Tensor A = te::placeholder({6}, "A", Int(32));
  te::Tensor B = te::compute(
      {6}, {"i"}, [&](Var i) { return A(i) * 3; }, "B");
  te::Tensor C = te::compute(
      {4, 5}, {"i", "j"}, [&](Var i, Var j) { return B(j) + B(j + 1) * i; }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].bind(s[C].axis(0), te::thread_axis("vthread"));
  const std::vector<te::IterVar> axes = s[B].transform_layout([](Var i) -> std::vector<Expr> {
    return {tir::floordiv(i, 3), tir::floormod(i, 3)};
  });
  s[B].compute_at(s[C], s[C].axis(1)).bind(axes[1], te::thread_axis("vthread"));
  EXPECT_THROW(lower(s, {A, C}), ScheduleError);
}

/// The loops of a layout begin at the one element that is needed, of which every thread has its
/// own.
TEST(LiftedThreads, OfALayoutReachOneElementThatIsNeeded) {
  te::Tensor A = te::placeholder({6}, "A", Int(32));
  te::Tensor B = te::compute(
      {6}, {"i"}, [&](Var i) { return A(i) * 3; }, "B");
  te::Tensor C = te::compute(
      {4, 6}, {"i", "j"}, [&](Var i, Var j) { return B(j) + i; }, "C");
  te::Schedule s = te::create_schedule(C);
  s[C].bind(s[C].axis(0), te::thread_axis("vthread"));
  const std::vector<te::IterVar> axes = s[B].transform_layout([](Var i) -> std::vector<Expr> {
    return {tir::floordiv(i, 3), tir::floormod(i, 3)};
  });
  s[B].compute_at(s[C], s[C].axis(1)).bind(axes[1], te::thread_axis("vthread"));
  EXPECT_EQ(compare_with_default(s, {A, C}, kInterpreted), "");
}

/// Around the stage that they bring elements for, too: its sums are kept where all of them see
/// them.
TEST(LiftedThreads, AddASumOfTheStageAroundThemOnce) {
  te::Tensor A = te::placeholder({4, 8}, "A", Int(32));
  te::IterVar k = te::reduce_axis({0, 8}, "k");
  te::Tensor C = te::compute(
      {4, 3}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) * (j + 1), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);
  const te::Tensor shared = s.cache_read(A, "shared", {C}),
                   local = s.cache_read(A, "local", {shared});
  s[C].bind(s[C].axis(0), te::thread_axis("blockIdx.x"));
  s[shared].compute_at(s[C], s[C].axis(1)).bind(s[shared].axis(1), te::thread_axis("threadIdx.x"));
  s[local].compute_at(s[C], s[C].axis(1)).bind(s[local].axis(1), te::thread_axis("threadIdx.x"));
  EXPECT_EQ(compare_with_default(s, {A, C}, kInterpreted), "");
}

/// Threads that reduce together stand around the whole of the reduction, so that what is computed
/// in one of its loops is kept by each of them.
TEST(LiftedThreads, OfAReductionDoNotShareWhatIsComputedInsideOfIt) {
  te::Tensor A = te::placeholder({4, 12}, "A", Int(32));
  te::Tensor B = te::compute(
      {4, 12}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + 1; }, "B");
  te::IterVar k = te::reduce_axis({0, 3}, "k"), q = te::reduce_axis({0, 4}, "q");
  te::Tensor C = te::compute(
      {4}, {"i"},
      [&](Var i) {
        return te::sum(B(i, k * 4 + q), {k, q});
      },
      "C");
  const te::IterVar of_b = te::thread_axis("threadIdx.x");
  te::Schedule s = te::create_schedule(C);
  s[C].bind(s[C].op().reduce_axis(1), te::thread_axis("threadIdx.x"));
  s[B].compute_at(s[C], s[C].op().reduce_axis(0));
  te::Schedule shared = s.copy();
  s[B].bind(s[B].axis(1), of_b);
  try {
    lower(s, {A, C});
    ADD_FAILURE() << "accepted";
  } catch (const ScheduleError& error) {
    EXPECT_NE(std::string(error.what()).find("set_scope(\"shared\")"), std::string::npos)
        << error.what();
  }
  shared[B].set_scope("shared").bind(shared[B].axis(1), of_b);
  EXPECT_EQ(compare_with_default(shared, {A, C}, kInterpreted), "");
}

/// All threads compute the shared row of D, and so all of them need T, also beyond C's loop.
TEST(LiftedThreads, WhatAStageReadsThatAllThreadsComputeIsThereInAllOfThem) {
  te::Tensor A = te::placeholder({4, 20}, "A", Int(32)), B = te::placeholder({4, 20}, "B", Int(32));
  te::Tensor T = te::compute(
      {4, 20}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 3; }, "T");
  te::Tensor D = te::compute(
      {4, 6}, {"i", "j"}, [&](Var i, Var j) { return T(i, j) + 5; }, "D");
  te::Tensor fetched = te::compute(
      {4, 20}, {"i", "j"}, [&](Var i, Var j) { return B(i, j) + 1; }, "fetched");
  te::Tensor C = te::compute(
      {4, 3}, {"i", "j"},
      [&](Var i, Var j) { return T(i, j + 7) + D(i, j * 2) + fetched(i, j * 9); }, "C");
  te::Schedule s = te::create_schedule(C);
  const te::IterVar block = s[C].axis(0);
  s[C].bind(block, te::thread_axis("blockIdx.x"))
      .bind(s[C].axis(1), te::thread_axis("threadIdx.x"));
  s[D].set_scope("shared").compute_at(s[C], block);
  s[T].set_scope("local").compute_at(s[C], block);
  s[T].bind(s[T].axis(0), te::thread_axis("threadIdx.x"));
  s[fetched].set_scope("shared").compute_at(s[C], block);
  s[fetched].bind(s[fetched].axis(1), te::thread_axis("threadIdx.x"));
  EXPECT_EQ(compare_with_default(s, {A, B, C}, kInterpreted), "");
}

/// floormod(j * 5 + 1, 5) is 1 for every thread: what is needed of T names none, its guard does.
TEST(LiftedThreads, StandAroundAStageThatIsTheSameInAllOfThem) {
  te::Tensor A = te::placeholder({4, 5}, "A", Int(32)), B = te::placeholder({4, 20}, "B", Int(32));
  te::Tensor T = te::compute(
      {4, 5}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 3; }, "T");
  te::Tensor C = te::compute(
      {4, 6}, {"i", "j"}, [&](Var i, Var j) { return T(i, floormod(j * 5 + 1, 5)) + B(i, j); },
      "C");
  te::Schedule s = te::create_schedule(C);
  const te::IterVar block = s[C].axis(0), tx = te::thread_axis("threadIdx.x");
  const te::Tensor fetched = s.cache_read(A, "shared", {T});
  s[C].bind(block, te::thread_axis("blockIdx.x")).bind(s[C].axis(1), tx);
  s[T].set_scope("local").compute_at(s[C], block);
  s[T].bind(s[T].axis(1), te::thread_axis("threadIdx.x"));
  s[fetched].compute_root().set_scope("global");
  auto [outer, inner] = s[fetched].split(s[fetched].axis(1), 32);
  s[fetched].bind(s[fetched].axis(0), te::thread_axis("blockIdx.x")).bind(inner, tx);
  EXPECT_EQ(compare_with_default(s, {A, B, C}, kInterpreted), "");
}

/// T stands inside of C's loop of 4 threads, and 8 fetch of it; another launch has 16 of the same
/// axis. Beyond 8, T would read what is not kept of P.
TEST(LiftedThreads, BeyondThoseThatReadDoNothingWhereAnotherLaunchHasMoreOfTheAxis) {
  te::Tensor A = te::placeholder({18}, "A", Int(32));
  te::Tensor P = te::compute(
      {18}, {"i"}, [&](Var i) { return A(i) + 1; }, "P");
  te::Tensor T = te::compute(
      {16}, {"i"}, [&](Var i) { return P(i + 2) * 3; }, "T");
  te::Tensor C = te::compute(
      {4}, {"i"}, [&](Var i) { return T(i * 2 + 1); }, "C");
  te::Schedule s = te::create_schedule(C);
  const te::IterVar tx = te::thread_axis("threadIdx.x");
  const te::Tensor fetched = s.cache_read(T, "shared", {C});
  s[P].bind(s[P].split(s[P].axis(0), 16).inner, tx);
  s[C].bind(s[C].axis(0), tx);
  s[fetched].compute_at(s[C], s[C].axis(0));
  s[fetched].bind(s[fetched].split(s[fetched].axis(0), 8).inner, tx);
  s[T].set_scope("local").compute_at(s[C], s[C].axis(0));
  EXPECT_EQ(compare_with_default(s, {A, C}, kInterpreted), "");
}

}  // namespace
}  // namespace tenon::testing
