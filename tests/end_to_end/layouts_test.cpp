// Checks stages whose memory has another layout: how they are computed and read.
#include <gtest/gtest.h>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// Readers ask for columns before the first, behind a condition. Of the one column that there is, a
/// layout has one block, or moves it elsewhere: no iteration of another one sums it again. Where
/// the loops count from what is asked for, it is the one that they reach.
TEST(Layouts, ASingleColumnIsComputedOnceInEveryLayout) {
  const te::Var n = te::size_var("n");
  const te::Tensor A = te::placeholder({4, 6}, "A", Int(32));
  const te::IterVar k = te::reduce_axis({0, 6}, "k");
  const te::Tensor B = te::compute(
      {4, 1}, {"i", "j"}, [&](Var i, Var j) { return te::sum(A(i, k) + j, {k}); }, "B");
  const te::Tensor C = te::compute(
      {n}, {"i"},
      [&](Var i) { return tir::if_then_else(i <= 0, B(tir::floormod(i, 4), 0 - i), 1); }, "C");
  using Indices = std::vector<Expr>;
  const std::vector<te::IndexFunction<Indices>> maps = {
      [](Var i, Var j) -> Indices {
        return {tir::floordiv(j, 2), i, tir::floormod(j, 2)};
      },
      [](Var i, Var j) -> Indices {
        return {j, i};
      },
  };
  for (const te::IndexFunction<Indices>& map : maps) {
    for (const bool from_zero : {false, true}) {
      te::Schedule s = te::create_schedule(C);
      if (from_zero) s = s.normalize();
      const std::vector<te::IterVar> axes = s[B].transform_layout(map, {.pad = true});
      // The sum starts from zero in loops of its own.
      const te::IterVar sum = from_zero ? s[B].leaf_iter_vars().back() : k;
      s[B].reorder({sum, axes[0], axes[1]});
      EXPECT_EQ(compare_with_default(s, {A, C, n}), "") << from_zero;
    }
  }
}

TEST(Layouts, OfSymbolicExtentsArePadded) {
  const te::Var n = te::size_var("n");
  const te::Tensor A = te::placeholder({n, 6}, "A", Int(32));
  const te::Tensor B = te::compute(
      {n, 6}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) * 2 + i; }, "B");
  const te::Tensor C = te::compute(
      {n, 6}, {"i", "j"}, [&](Var i, Var j) { return B(n - 1 - i, j) + j; }, "C");
  te::Schedule s = te::create_schedule(C);
  const std::vector<te::IterVar> axes = s[B].transform_layout(
      [](Var i, Var j) -> std::vector<Expr> {
        return {tir::floordiv(i, 4), j, tir::floormod(i, 4)};
      },
      {.pad = true});
  s[B].vectorize(axes[2]);
  EXPECT_EQ(compare_with_default(s, {A, C}, {.symbols = {1, 4, 7}}), "");
}

}  // namespace
}  // namespace tenon::testing
