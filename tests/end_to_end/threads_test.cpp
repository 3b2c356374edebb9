// Programs on the threads of a GPU, run by the interpreter, which has threads and barriers.
#include <gtest/gtest.h>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

const WaysToRun kInterpreted = {.compile = false};

TEST(ThreadsTest, ReductionsWhereThreeDimensionsAreBoundToExtentsThatNoWarpDivides) {
  te::Tensor A = te::placeholder({1, 16, 26}, "A", Int(32));
  te::IterVar k = te::reduce_axis({0, 26}, "k");
  // All below zero: what idle threads would add must not be zero.
  for (bool is_maximum : {false, true}) {
    te::Tensor B = te::compute(
        {1, 16}, {"i", "j"},
        [&](Var i, Var j) { return is_maximum ? te::max(A(i, j, k) - 1000, {k}) : te::sum(A(i, j, k), {k}); },
        "B");
    te::Schedule s = te::create_schedule(B);
    s[B].bind(s[B].axis(0), te::thread_axis("threadIdx.z"));
    s[B].bind(s[B].axis(1), te::thread_axis("threadIdx.y"));
    s[B].bind(k, te::thread_axis("threadIdx.x"));
    EXPECT_EQ(compare_with_default(s, {A, B}, kInterpreted), "") << is_maximum;
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

}  // namespace
}  // namespace tenon::testing
