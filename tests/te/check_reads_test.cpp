// Reads outside of their tensors: what is proved, and of which kind it is.
#include "tenon/te/check_reads.h"

#include <gtest/gtest.h>

#include "tenon/te/freeze.h"
#include "tenon/te/reduce.h"
#include "tenon/te/schedule.h"

namespace tenon::te {
namespace {

/// Whether a compute of `count` elements that reads 100 at these places is refused.
bool refuses(Outside refused, int count, const std::function<Expr(const Tensor&, Var)>& body) {
  Tensor A = placeholder({100}, "A");
  Tensor B = compute(
      {count}, {"i"}, [&](Var i) { return body(A, i); }, "B");
  const StageGraph graph = freeze(create_schedule(B));
  try {
    check_reads(graph, infer_bound(graph), refused);
    return false;
  } catch (const BoundError&) {
    return true;
  }
}

TEST(CheckReads, AllInsideAreFine) {
  EXPECT_FALSE(refuses(Outside::Partly, 100, [](const Tensor& A, Var i) { return A(99 - i); }));
}

TEST(CheckReads, SomeOutsideArePartlyOutside) {
  auto shifted = [](const Tensor& A, Var i) { return A(i + 2); };
  EXPECT_TRUE(refuses(Outside::Partly, 100, shifted));
  EXPECT_FALSE(refuses(Outside::Wholly, 100, shifted));
}

TEST(CheckReads, NoneInsideAreWhollyOutside) {
  EXPECT_TRUE(refuses(Outside::Wholly, 100, [](const Tensor& A, Var i) { return A(i + 100); }));
  EXPECT_TRUE(refuses(Outside::Wholly, 100, [](const Tensor& A, Var i) { return A(i - 100); }));
}

TEST(CheckReads, WhatAConditionMayKeepFromHappeningIsNoFault) {
  EXPECT_FALSE(refuses(Outside::Partly, 200, [](const Tensor& A, Var i) {
    return tir::if_then_else(i < 100, A(i), 0.0f);
  }));
  IterVar k = reduce_axis({0, 200}, "k");
  EXPECT_FALSE(refuses(Outside::Partly, 1, [&](const Tensor& A, Var) {
    return sum(A(k), {k}, {.where = Expr(k) < 100});
  }));
}

TEST(CheckReads, OfAReductionThatStartsElsewhereTheSumOfTheAxesCounts) {
  IterVar k = reduce_axis({0, 100}, "k"), k2 = reduce_axis({2, 5}, "k2");
  auto window = [&](const Tensor& A, Var) { return max(A(k + k2 - 2), {k, k2}); };
  EXPECT_TRUE(refuses(Outside::Partly, 1, window));
  EXPECT_FALSE(refuses(Outside::Wholly, 1, window));
}

}  // namespace
}  // namespace tenon::te
