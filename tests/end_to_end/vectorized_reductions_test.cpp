// Reductions whose lanes are elements of the result: sums that stay in registers, tuples of which
// one component's update reads another, and what a code generator makes of them at every level.
#include <gtest/gtest.h>

#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

/// "" if all ways to run agree at every level of optimisation.
std::string at_every_level(const te::Schedule& s, const std::vector<LowerArgument>& args) {
  for (int level : {0, 1, 2, 3})
    if (std::string wrong = compare_with_default(s, args, {.build = {.opt_level = level}});
        !wrong.empty())
      return "opt_level " + std::to_string(level) + ": " + wrong;
  return "";
}

/// The first of equal minima; with ties broken the one of the least index, which does not depend on
/// the order of combination.
te::Reducer argmin(bool is_tie_broken) {
  return te::comm_reducer(
      [=](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        const Expr is_first = is_tie_broken
                                  ? tir::any(x[0] < y[0], tir::all(x[0] == y[0], x[1] <= y[1]))
                                  : x[0] <= y[0];
        return {select(is_first, x[0], y[0]), select(is_first, x[1], y[1])};
      },
      [](std::span<const DataType> t) -> std::vector<Expr> {
        return {infinity(t[0]), make_const(t[1], -1)};
      },
      "argmin");
}

te::Reducer complex_product() {
  return te::comm_reducer(
      [](std::span<const Var> x, std::span<const Var> y) -> std::vector<Expr> {
        return {x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]};
      },
      [](std::span<const DataType> t) -> std::vector<Expr> {
        return {make_const(t[0], 1), make_const(t[1], 0)};
      },
      "complex_product");
}

struct ArgminTest : ::testing::Test {
  te::Tensor A = te::placeholder({13, 16}, "A");
  te::IterVar k = te::reduce_axis({0, 13}, "k");
  std::vector<te::Tensor> T = te::compute_multi(
      {16}, {"i"},
      [&](Var i) {
        return argmin(false)({A(k, i), k}, {k});
      },
      "T");
  te::Schedule s = te::create_schedule(T[0]);
  std::vector<LowerArgument> args = {A, T[0], T[1]};
};

TEST_F(ArgminTest, LanesAreElements) {
  s[T[0]].reorder({k, s[T[0]].axis(0)}).vectorize(s[T[0]].axis(0));
  EXPECT_EQ(at_every_level(s, args), "");
}

TEST_F(ArgminTest, LanesAreElementsInLoops) {
  const auto [outer, inner] = s[T[0]].split(s[T[0]].axis(0), 8);
  s[T[0]].reorder({outer, k, inner}).vectorize(inner);
  EXPECT_EQ(at_every_level(s, args), "");
}

TEST_F(ArgminTest, LanesAreStrandsOfTheReduction) {
  te::Tensor B = te::placeholder({64}, "B");
  te::IterVar r = te::reduce_axis({0, 64}, "r");
  std::vector<te::Tensor> R = te::compute_multi(
      {1}, {"i"},
      [&](Var) {
        return argmin(true)({B(r), r}, {r});
      },
      "R");
  te::Schedule t = te::create_schedule(R[0]);
  const auto [outer, inner] = t[R[0]].split(r, 8);
  std::vector<te::Tensor> strands = t.rfactor(R, inner);
  t[strands[0]]
      .reorder({t[strands[0]].reduce_axis(0), t[strands[0]].axis(0)})
      .vectorize(t[strands[0]].axis(0));
  EXPECT_EQ(at_every_level(t, {B, R[0], R[1]}), "");
}

TEST(VectorizedReductionsTest, AComplexProduct) {
  te::Tensor X = te::placeholder({5, 16}, "X"), Y = te::placeholder({5, 16}, "Y");
  te::IterVar k = te::reduce_axis({0, 5}, "k");
  std::vector<te::Tensor> P = te::compute_multi(
      {16}, {"i"},
      [&](Var i) {
        return complex_product()({X(k, i), Y(k, i)}, {k});
      },
      "P");
  te::Schedule s = te::create_schedule(P[0]);
  s[P[0]].reorder({k, s[P[0]].axis(0)}).vectorize(s[P[0]].axis(0));
  EXPECT_EQ(at_every_level(s, {X, Y, P[0], P[1]}), "");
}

TEST(VectorizedReductionsTest, ASumWhoseElementsAreReadAtOtherTimesThanTheyAreMade) {
  te::Tensor A = te::placeholder({16, 13}, "A");
  te::IterVar k = te::reduce_axis({0, 13}, "k");
  te::Tensor B = te::compute(
      {16}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
  te::Tensor C = te::compute(
      {16, 13}, {"i", "j"}, [&](Var i, Var j) { return A(i, j) + B(i); }, "C");
  te::Schedule s = te::create_schedule(C);
  const auto [outer, inner] = s[B].split(s[B].axis(0), 6);
  s[B].reorder({inner, outer, k});
  EXPECT_EQ(at_every_level(s, {A, C}), "");
}

TEST(VectorizedReductionsTest, AConditionalSumWithElementsInTheInnermostLoop) {
  te::Tensor A = te::placeholder({16, 10}, "A");
  te::IterVar k = te::reduce_axis({0, 10}, "k");
  te::Tensor B = te::compute(
      {16}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}, {.where = floormod(k, 3) != 0}); },
      "B");
  te::Schedule s = te::create_schedule(B);
  const auto [ko, ki] = s[B].split_by_nparts(k, 2);
  const auto [io, ii] = s[B].split(s[B].axis(0), 8);
  s[B].reorder({io, ki, ko, ii});
  s[B].fuse(ko, ii);
  EXPECT_EQ(at_every_level(s, {A, B}), "");
}

TEST(VectorizedReductionsTest, SoftmaxOfOddRows) {
  te::Tensor A = te::placeholder({16, 13}, "A");
  te::Tensor B = topi::softmax(A);
  EXPECT_EQ(at_every_level(te::create_schedule(B), {A, B}), "");
}

}  // namespace
}  // namespace tenon::testing
