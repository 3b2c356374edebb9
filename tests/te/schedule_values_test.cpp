// Rewrites after uneven splits, of parts, and of several reductions: the values stay, and nothing
// is read that is not there (the interpreter refuses it).
#include <gtest/gtest.h>

#include "tenon/te/reduce.h"
#include "tenon/tir/builder.h"
#include "tests/common/run_schedule.h"

namespace tenon::te {
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
}  // namespace tenon::te
