// Programs on the threads of a GPU, run by the interpreter, which has threads and barriers.
#include <gtest/gtest.h>

#include "tenon/lower/pipeline.h"
#include "tenon/tir/walk.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

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

}  // namespace
}  // namespace tenon::testing
