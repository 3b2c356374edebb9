// Programs on the threads of a GPU, run by the interpreter, which has threads and barriers.
#include <gtest/gtest.h>

#include "tenon/lower/pipeline.h"
#include "tenon/tir/walk.h"
#include "tenon/topi/gpu.h"
#include "tenon/topi/nn.h"
#include "tests/common/one_tile.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- programs on threads ------------------------------------------------------------------------

// Programs on the threads of a GPU, run by the interpreter, which has threads and barriers.

const WaysToRun kInterpreted = {.compile = false};

/// Seven times two iterations of eight rows: the condition of the sum reads rows that are there.
TEST(ThreadsTest, TheConditionOfAReductionIsReadInsideOfTheGuards) {
  te::Tensor A = te::placeholder({11, 13}, "A", Int(8));
  te::IterVar k = te::reduce_axis({0, 6}, "k");
  te::Tensor B = te::compute(
      {8, 9}, {"i", "j"},
      [&](Var i, Var j) {
        return te::sum(A(j, i).astype(Int(32)), {k}, {.where = A(j, k + i) >= A(0, i)});
      },
      "B");
  te::Schedule s = te::create_schedule(B);
  s[B].bind(k, te::thread_axis("threadIdx.x"));
  s[B].split_by_nparts(s[B].axis(0), 7);
  EXPECT_EQ(compare_with_default(s, {A, B}, kInterpreted), "");
}

TEST(ThreadsTest, ReductionsWhereThreeDimensionsAreBoundToExtentsThatNoWarpDivides) {
  te::Tensor A = te::placeholder({1, 16, 26}, "A", Int(32));
  te::IterVar k = te::reduce_axis({0, 26}, "k");
  // All below zero: what idle threads would add must not be zero.
  for (bool is_maximum : {false, true}) {
    te::Tensor B = te::compute(
        {1, 16}, {"i", "j"},
        [&](Var i, Var j) {
          return is_maximum ? te::max(A(i, j, k) - 1000, {k}) : te::sum(A(i, j, k), {k});
        },
        "B");
    te::Schedule s = te::create_schedule(B);
    s[B].bind(s[B].axis(0), te::thread_axis("threadIdx.z"));
    s[B].bind(s[B].axis(1), te::thread_axis("threadIdx.y"));
    s[B].bind(k, te::thread_axis("threadIdx.x"));
    EXPECT_EQ(compare_with_default(s, {A, B}, kInterpreted), "") << is_maximum;
  }
}

/// The threads stand around the loop over rows that each of them runs: one of them alone adds up
/// what all of them read.
TEST(ThreadsTest, ASumInsideOfAReductionThatThreadsShareIsMadeOnce) {
  te::Tensor A = te::placeholder({5, 7, 3}, "A", Int(32));
  te::IterVar r = te::reduce_axis({0, 3}, "r"), y = te::reduce_axis({0, 5}, "y"),
              x = te::reduce_axis({0, 7}, "x");
  te::Tensor sums = te::compute(
      {5, 7}, {"y", "x"}, [&](Var i, Var j) { return te::sum(A(i, j, r), {r}); }, "sums");
  te::Tensor total = te::compute(
      {1}, {"i"},
      [&](Var) {
        return te::sum(sums(y, x), {y, x});
      },
      "total");
  te::Schedule s = te::create_schedule(total);
  s[total].bind(x, te::thread_axis("threadIdx.x"));
  s[sums].compute_at(s[total], y).set_scope("shared");
  const std::vector<LowerArgument> args = {A, total};
  EXPECT_EQ(compare_with_default(s, args, kInterpreted), "");
}

// Lowered code keeps bools as bytes, and threads write their common result to such a byte.
TEST(ThreadsTest, ReductionsOfBools) {
  te::Tensor A = te::placeholder({7, 12}, "A", Int(32));
  for (bool is_every : {false, true}) {
    for (int parts : {12, 5}) {
      te::IterVar k = te::reduce_axis({0, 12}, "k");
      te::Tensor B = te::compute(
          {7}, {"i"},
          [&](Var i) { return is_every ? te::all(A(i, k) > -9, {k}) : te::any(A(i, k) > 8, {k}); },
          "B");
      te::Schedule s = te::create_schedule(B);
      s[B].bind(s[B].split(k, parts).inner, te::thread_axis("threadIdx.x"));
      EXPECT_EQ(compare_with_default(s, {A, B}, kInterpreted), "") << is_every << ' ' << parts;
    }
  }
}

// TVM 0.9 text represents bfloat16 by its bits, which threads then combine and write.
TEST(ThreadsTest, ReductionsOfBfloat16) {
  te::Tensor A = te::placeholder({7, 12}, "A", BFloat(16));
  for (bool is_sum : {false, true}) {
    for (int parts : {12, 5}) {
      te::IterVar k = te::reduce_axis({0, 12}, "k");
      te::Tensor B = te::compute(
          {7}, {"i"}, [&](Var i) { return is_sum ? te::sum(A(i, k), {k}) : te::max(A(i, k), {k}); },
          "B");
      te::Schedule s = te::create_schedule(B);
      s[B].bind(s[B].split(k, parts).inner, te::thread_axis("threadIdx.x"));
      EXPECT_EQ(compare_with_default(s, {A, B}, kInterpreted), "") << is_sum << ' ' << parts;
    }
  }
}

// Each thread keeps its part of the sum for itself, though the block is entered inside of it.
TEST(ThreadsTest, BlocksInsideOfThreads) {
  te::Tensor A = te::placeholder({3, 33}, "A", Int(32));
  te::IterVar k = te::reduce_axis({0, 33}, "k");
  te::Tensor B = te::compute(
      {3}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Schedule s = te::create_schedule(B);
  const te::IterVar tx = te::thread_axis("threadIdx.x");
  te::Tensor R = s.rfactor(B, s[B].split(k, 9).inner);
  s[B].bind(s[B].reduce_axis(0), tx);
  s[R].compute_at(s[B], s[B].reduce_axis(0));
  auto [o, i] = s[R].split(s[R].fuse(s[R].axis(0), s[R].axis(1)), 16);
  s[R].reorder({o, i, s[R].reduce_axis(0)}).bind(o, te::thread_axis("blockIdx.x")).bind(i, tx);
  EXPECT_EQ(compare_with_default(s, {A, B}, kInterpreted), "");
}

// Outside of the threads that read it, what is fetched is what all of them read.
TEST(ThreadsTest, APrefetchAroundThreads) {
  te::Tensor A = te::placeholder({4, 16}, "A", Int(32));
  te::IterVar k = te::reduce_axis({0, 4}, "k");
  te::Tensor B = te::compute(
      {16}, {"i"}, [&](Var i) { return te::sum(A(k, i), {k}); }, "B");
  for (const char* tag : {"threadIdx.x", "vthread"}) {
    te::Schedule s = te::create_schedule(B);
    s[B].reorder({s[B].reduce_axis(0), s[B].axis(0)});
    s[B].bind(s[B].axis(0), te::thread_axis(tag)).prefetch(A, s[B].reduce_axis(0), 1);
    EXPECT_EQ(compare_with_default(s, {A, B}, kInterpreted), "") << tag;
  }
}

TEST(ThreadsTest, CachesOnBothSidesWhoseThreadsWereNormalized) {
  te::Tensor A = te::placeholder({32}, "A");
  te::Tensor B = te::compute(
      {30}, {"i"}, [&](Var i) { return A(i + 2) + A(i); }, "B");
  te::Schedule s = te::create_schedule(B);
  te::Tensor near = s.cache_write(B, "local"), read = s.cache_read(A, "shared", {near.op()});
  const auto [block, thread] = s[B].split(s[B].axis(0), 8);
  s[B].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  s[near].compute_at(s[B], thread);
  s[read].compute_at(s[B], block);
  s[read].bind(s[read].split(s[read].axis(0), 8).inner, te::thread_axis("threadIdx.x"));
  EXPECT_EQ(compare_with_default(s.normalize(), {A, B}, kInterpreted), "");
}

// The threads of a warp, which lie along threadIdx.x, see what the others of it have written.
TEST(ThreadsTest, EveryWarpHasMemoryOfItsOwn) {
  te::Tensor A = te::placeholder({8, 32}, "A");
  te::Tensor B = te::compute(
      {8, 32}, {"i", "j"}, [&](Var i, Var j) { return A(i, floormod(j + 1, 32)); }, "B");
  te::Schedule s = te::create_schedule(B);
  te::Tensor row = s.cache_read(A, "warp", {B.op()});
  const auto [block, warp] = s[B].split(s[B].axis(0), 4);
  const te::IterVar lane = te::thread_axis("threadIdx.x");
  s[B].bind(block, te::thread_axis("blockIdx.x")).bind(warp, te::thread_axis("threadIdx.y"));
  s[B].bind(s[B].axis(1), lane);
  s[row].compute_at(s[B], warp);
  s[row].bind(s[row].axis(1), lane);
  EXPECT_EQ(compare_with_default(s, {A, B}, kInterpreted), "");
}

/// A product whose tiles of A and B a block of 4 x 4 threads loads together, step by step.
struct SharedTiles {
  te::Tensor A = te::placeholder({8, 16}, "A", Int(32)), B = te::placeholder({16, 8}, "B", Int(32));
  te::IterVar k = te::reduce_axis({0, 16}, "k");
  te::Tensor C = te::compute(
      {8, 8}, {"i", "j"}, [this](Var i, Var j) { return te::sum(A(i, k) * B(k, j), {k}); }, "C");
  te::Schedule s = te::create_schedule(C);

  SharedTiles() {
    te::Tensor sum = s.cache_write(C, "local");
    te::Tensor a = s.cache_read(A, "shared", {sum.op()}), b = s.cache_read(B, "shared", {sum.op()});
    const te::IterVar tx = te::thread_axis("threadIdx.x"), ty = te::thread_axis("threadIdx.y");
    auto [by, y] = s[C].split(s[C].axis(0), 4);
    auto [bx, x] = s[C].split(s[C].axis(1), 4);
    s[C].reorder({by, bx, y, x})
        .bind(by, te::thread_axis("blockIdx.y"))
        .bind(bx, te::thread_axis("blockIdx.x"));
    s[C].bind(y, ty).bind(x, tx);
    s[sum].compute_at(s[C], x);
    auto [step, inner] = s[sum].split(s[sum].reduce_axis(0), 4);
    s[sum].reorder({step, inner, s[sum].axis(0), s[sum].axis(1)});
    for (const te::Tensor& tile : {a, b}) {
      s[tile].compute_at(s[sum], step);
      s[tile].bind(s[tile].axis(0), ty).bind(s[tile].axis(1), tx);
    }
  }
};

std::size_t barriers_in(const tir::PrimFunc& func) {
  std::size_t count = 0;
  tir::walk(func.body,
            [&](const tir::Call& call) { count += call.is(tir::Intrin::tvm_storage_sync); });
  return count;
}

TEST(ThreadsTest, TilesThatABlockLoadsTogetherGetTwoBarriersAStep) {
  const SharedTiles p;
  const tir::PrimFunc func =
      lower(p.s, {p.A, p.B, p.C}, {.simple_mode = true}).functions.at("main");
  // Before the tiles are overwritten, since others still read them, and before they are read.
  EXPECT_EQ(barriers_in(lowering::run_passes(lowering::device_passes(), func, {})), 2u);
  EXPECT_EQ(compare_with_default(p.s, {p.A, p.B, p.C}, kInterpreted), "");
}

TEST(ThreadsTest, WithoutBarriersTheyRace) {
  const SharedTiles p;
  const tir::PrimFunc func = lower(p.s, {p.A, p.B, p.C}).functions.at("main");
  EXPECT_THROW(tir::evaluate(func, make_arguments({p.A, p.B, p.C}).values, {.check_races = true}),
               RuntimeError);
}

// Global memory inside holds what all virtual threads need, and every sum in it is made once.
TEST(ThreadsTest, VirtualThreadsMakeASumThatTheyShareOnce) {
  te::Tensor A = te::placeholder({6, 8}, "A", Int(32));
  te::IterVar k = te::reduce_axis({0, 8}, "k");
  te::Tensor B = te::compute(
      {6}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Tensor C = te::compute(
      {6}, {"i"}, [&](Var i) { return B(i) * 2; }, "C");
  te::Schedule s = te::create_schedule(C);
  auto [v, i] = s[C].split_by_nparts(s[C].axis(0), 2);
  s[C].bind(v, te::thread_axis("vthread"));
  s[B].compute_at(s[C], i).set_scope("global");
  EXPECT_EQ(compare_with_default(s, {A, C}, kInterpreted), "");
}

// ---- stages outside of the loop of their threads ------------------------------------------------

// Stages in memory of each thread that are computed outside of the loop bound to it: the threads
// stand around the stage and its readers, whatever axes they are bound to.

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

// ---- bank conflicts -----------------------------------------------------------------------------

// Bank conflicts, counted by the interpreter over the threads of a warp.

/// The most ways of any read, and of any write, of each buffer in shared memory.
struct Ways {
  std::map<std::string, int> reads, writes;
};

Ways ways_of(const te::Schedule& s, const std::vector<LowerArgument>& args) {
  const tir::PrimFunc func =
      lowering::run_passes(lowering::device_passes(), lower(s, args).functions.at("main"),
                           {.passes = {.has_async_copies = true}});
  Ways ways;
  const Arguments arguments = make_arguments(args);
  tir::evaluate(func, arguments.values,
                {.check_races = true, .on_warp_access = [&](const tir::WarpAccess& access) {
                   int& most = (access.is_write ? ways.writes : ways.reads)[access.buffer->name];
                   most = std::max(most, access.ways);
                 }});
  const Arguments expected = make_arguments(args);
  tir::evaluate(lower_to_loops(default_schedule(args), args), expected.values);
  EXPECT_EQ(first_difference(expected, arguments), "");
  return ways;
}

/// A 32 x 32 tile that is written by rows and read by columns.
struct Transposed {
  te::Tensor A = te::placeholder({32, 32}, "A");
  te::Tensor B = te::compute(
      {32, 32}, {"i", "j"}, [&](Var i, Var j) { return A(j, i); }, "B");
  te::Schedule s = te::create_schedule(B);
  te::Tensor tile = s.cache_read(A, "shared", {B});

  Transposed() {
    const te::IterVar tx = te::thread_axis("threadIdx.x");
    auto [block, row] = s[B].split(s[B].axis(0), 32);
    s[B].bind(block, te::thread_axis("blockIdx.x")).bind(s[B].axis(1), tx);
    s[tile].compute_at(s[B], block).bind(s[tile].axis(1), tx);
  }
};

TEST(BankConflicts, AColumnOfATileOf32RowsLiesInOneBank) {
  Transposed p;
  const Ways ways = ways_of(p.s, {p.A, p.B});
  EXPECT_EQ(ways.reads.at("A.shared"), 32);
  EXPECT_EQ(ways.writes.at("A.shared"), 1);
}

TEST(BankConflicts, RowsThatAreOneNumberLongerHaveNone) {
  Transposed p;
  p.s[p.tile].storage_align(p.s[p.tile].axis(0), 32, 1);
  const Ways ways = ways_of(p.s, {p.A, p.B});
  EXPECT_EQ(ways.reads.at("A.shared"), 1);
  EXPECT_EQ(ways.writes.at("A.shared"), 1);
}

/// 32 threads, each of which reads `lanes` numbers from `distance` times its own number on.
int ways_of_vectors(int lanes, int distance) {
  te::Tensor A = te::placeholder({32 * distance + 16}, "A");
  te::Tensor B = te::compute(
      {32, lanes}, {"i", "j"}, [&](Var i, Var j) { return A(i * distance + j); }, "B");
  te::Schedule s = te::create_schedule(B);
  const te::Tensor tile = s.cache_read(A, "shared", {B});
  auto [block, thread] = s[B].split(s[B].axis(0), 32);
  s[B].bind(block, te::thread_axis("blockIdx.x")).bind(thread, te::thread_axis("threadIdx.x"));
  s[B].vectorize(s[B].axis(1));
  s[tile].compute_at(s[B], block);
  return ways_of(s, {A, B}).reads.at("A.shared");
}

TEST(BankConflicts, VectorsAreServedByHalvesAndQuartersOfAWarp) {
  EXPECT_EQ(ways_of_vectors(4, 4), 1);  // a quarter reads 32 neighbours
  EXPECT_EQ(ways_of_vectors(2, 2), 1);
  EXPECT_EQ(ways_of_vectors(4, 8), 2);  // threads 0 and 4 of a quarter begin in one bank
  EXPECT_EQ(ways_of_vectors(2, 4), 2);
  EXPECT_EQ(ways_of_vectors(4, 32), 8);
}

TEST(BankConflicts, ThreadsThatReadOneWordShareIt) {
  te::Tensor A = te::placeholder({32}, "A");
  te::Tensor B = te::compute(
      {32, 32}, {"i", "j"}, [&](Var i, Var j) { return A(i) + 0 * j; }, "B");
  te::Schedule s = te::create_schedule(B);
  const te::Tensor tile = s.cache_read(A, "shared", {B});
  auto [block, row] = s[B].split(s[B].axis(0), 32);
  s[B].bind(block, te::thread_axis("blockIdx.x"));
  s[B].bind(s[B].axis(1), te::thread_axis("threadIdx.x"));
  s[tile].compute_at(s[B], block);
  EXPECT_EQ(ways_of(s, {A, B}).reads.at("A.shared"), 1);
}

/// Tensor cores read eight rows of 16 bytes at once. Here those lie 32 bytes apart, and every
/// fourth one begins in the bank of the first.
TEST(BankConflicts, ShortRowsOfTilesShareBanks) {
  const OneTile p;
  const Ways ways = ways_of(p.s, p.args());
  EXPECT_EQ(ways.reads.at("A.shared"), 2);
  EXPECT_EQ(ways.reads.at("B.shared"), 2);
}

/// (Where rows of a tile are short, several of them are written at once.)
TEST(BankConflicts, TheMatmulOnTensorCoresHasNoneWhereItReads) {
  te::Tensor A = te::placeholder({128, 64}, "A", Float(16)),
             B = te::placeholder({64, 128}, "B", Float(16));
  te::Tensor C = topi::matmul(A, B, {.out_dtype = Float(32)});
  const Target target("cuda -arch=sm_90");
  const Ways ways = ways_of(topi::gpu::schedule_matmul(C, target.facts()), {A, B, C});
  EXPECT_EQ(ways.reads.size(), 2u);
  for (const auto& [name, most] : ways.reads) EXPECT_EQ(most, 1) << name;
}

TEST(BankConflicts, TheBestMatmulHasNone) {
  te::Tensor A = te::placeholder({128, 32}, "A"), B = te::placeholder({32, 128}, "B");
  te::Tensor C = topi::matmul(A, B);
  const Target target("cuda -arch=sm_90");
  const Ways ways = ways_of(topi::gpu::schedule_matmul(C, target.facts()), {A, B, C});
  for (const auto& all : {ways.reads, ways.writes}) {
    EXPECT_EQ(all.size(), 2u);
    for (const auto& [name, most] : all) EXPECT_EQ(most, 1) << name;
  }
}

}  // namespace
}  // namespace tenon::testing
