// Persistent parallel regions: tasks that start once and share several loops, with barriers
// between.
#include <gtest/gtest.h>

#include "tests/common/refusal.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// C = sqrt(B) * 2 + 2 of B = |A| + 1, reversed; both in one region, which the outermost loop of C
/// launches.
struct ParallelRegionTest : ::testing::Test {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [this](Var i) { return abs(A(i)) + 1.0f; }, "B");
  te::Tensor C = te::compute(
      {n}, {"i"}, [this](Var i) { return sqrt(B(n - 1 - i)) * 2.0f + 2.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  te::Stage::SplitAxes eights = s[C].split(s[C].axis(0), 8);
  te::Stage::SplitAxes pieces = s[C].split_by_nparts(eights.outer, 1);
  te::IterVar region = pieces.outer;

  void launch(const te::IterVar& shared_axis) {
    s[C].pragma(region, "parallel_launch_point").parallel(shared_axis);
    s[B].compute_at(s[C], region);
    s[B].parallel(s[B].axis(0)).pragma(s[B].axis(0), "parallel_barrier_when_finish");
  }
  void expect_right_for_every_number_of_threads() {
    for (int threads : {1, 2, 3, 7}) {
      runtime::set_num_threads(threads);
      EXPECT_EQ(compare_with_default(s, {A, C}, {.symbols = {0, 1, 2, 8, 127, 128}}), "")
          << threads;
    }
    runtime::set_num_threads(0);
  }
};

TEST_F(ParallelRegionTest, SharesItsLoopsInPieces) {
  launch(pieces.inner);
  expect_right_for_every_number_of_threads();
}

TEST_F(ParallelRegionTest, SharesItsLoopsInStrides) {
  launch(pieces.inner);
  s[C].pragma(pieces.inner, "parallel_stride_pattern");
  expect_right_for_every_number_of_threads();
}

TEST_F(ParallelRegionTest, SharesALoopInsideOfASerialOne) {
  launch(eights.inner);
  s[C].pragma(eights.inner, "parallel_stride_pattern");
  expect_right_for_every_number_of_threads();
}

TEST_F(ParallelRegionTest, LoopsThatAreNotOrderedAreNotBuilt) {
  s[C].pragma(region, "parallel_launch_point").parallel(pieces.inner);
  s[B].compute_at(s[C], region);
  s[B].parallel(s[B].axis(0));
  EXPECT_TRUE(refuses<LowerError>(
      [&] {
        build(s, {A, C});
      },
      {"parallel_launch_point", "`B`", "parallel_barrier_when_finish"}));
}

TEST_F(ParallelRegionTest, StoresThatEveryTaskWouldDoAreNotBuilt) {
  s[C].pragma(region, "parallel_launch_point").parallel(pieces.inner);
  s[B].compute_at(s[C], region);
  EXPECT_TRUE(refuses<LowerError>(
      [&] {
        build(s, {A, C});
      },
      {"parallel_launch_point", "`B`", "every task"}));
}

TEST_F(ParallelRegionTest, WhatANextIterationFillsMayStillBeRead) {
  // The loop that reads B has no barrier behind it, and the next iteration fills B anew.
  te::Tensor D = te::compute(
      {4, n}, {"t", "i"}, [this](Var t, Var i) { return A(i) * t; }, "D");
  te::Tensor E = te::compute(
      {4, n}, {"t", "i"}, [&](Var t, Var i) { return D(t, n - 1 - i) + 1.0f; }, "E");
  te::Schedule steps = te::create_schedule(E);
  steps[E].pragma(steps[E].axis(0), "parallel_launch_point").parallel(steps[E].axis(1));
  steps[D].compute_at(steps[E], steps[E].axis(0));
  steps[D].parallel(steps[D].axis(1)).pragma(steps[D].axis(1), "parallel_barrier_when_finish");
  EXPECT_TRUE(refuses<LowerError>([&] { build(steps, {A, E}); }, {"`D`", "still read"}));
  steps[E].pragma(steps[E].axis(1), "parallel_barrier_when_finish");
  EXPECT_EQ(compare_with_default(steps, {A, E}, {.symbols = {0, 1, 50}}), "");
}

/// A region of two rounds, in which the tasks share `i` of 8 iterations that store to B[i +
/// shift*t].
runtime::Module rounds_of_stores(int shift) {
  te::Tensor B = te::extern_op(
      {16}, {},
      [&](std::span<const tir::Buffer>, std::span<const tir::Buffer> outs) -> te::ExternResult {
        tir::IRBuilder ib;
        auto b = ib.buffer_ptr(outs[0]);
        ib.scope_attr("parallel_launch_point", 1);
        ib.for_range(0, 2, "t", [&](Var t) {
          ib.for_range(0, 8, "i", [&](Var i) { b[i + t * shift] = t; },
                       {.kind = ForKind::Parallel});
        });
        return ib.get();
      },
      "B", {.dtype = Int(32)});
  return build(te::create_schedule(B), {B}, Target("llvm"));
}

TEST(ParallelRegion, RoundsMayStoreWhatTheSameTaskStored) {
  auto b = runtime::NDArray::zeros({16}, Int(32));
  rounds_of_stores(0)["main"](b);
  EXPECT_EQ(b.to_vector<std::int32_t>(),
            (std::vector<std::int32_t>{1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(ParallelRegion, RoundsThatStoreWhatAnotherTaskStoredAreNotBuilt) {
  EXPECT_TRUE(refuses<LowerError>([] { rounds_of_stores(1); },
                                  {"parallel_launch_point", "may still fill `B`"}));
}

}  // namespace
}  // namespace tenon::testing
