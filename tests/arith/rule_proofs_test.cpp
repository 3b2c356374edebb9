// Checks the cost of rules' conditions, and that conditions are proved anew when the facts change.
#include <gtest/gtest.h>

#include <chrono>

#include "tenon/arith/simplify.h"
#include "tests/tables/table.h"

namespace tenon::arith {
namespace {

using namespace tir;

/// min(... min(min(x0, x1), x2) ..., xn) of new variables.
Expr minimum_of_many(int depth) {
  Expr e = Var("x0");
  for (int n = 1; n <= depth; ++n) e = min(e, Var("x" + std::to_string(n)));
  return e;
}

/// A position that is clamped again and again, one further on each time.
Expr clamped(const Var& x, const Var& end, int depth) {
  Expr e = x;
  for (int n = 1; n <= depth; ++n) e = min(max(e - 1, 0), end - 1 - n);
  return e;
}

/// The proof of `claim` is not found, in seconds rather than in centuries.
void expect_given_up_soon(const Expr& claim) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(can_prove(claim));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST(RuleProofs, NestedMinimaDoNotDoubleTheCostWithEveryLevel) {
  expect_given_up_soon(minimum_of_many(24) <= minimum_of_many(24));
}

TEST(RuleProofs, TwoMinimaOfManyAreComparedInSeconds) {
  expect_given_up_soon(minimum_of_many(63) <= minimum_of_many(63));
}

TEST(RuleProofs, RepeatedClampsDoNotDoubleTheCostWithEveryLevel) {
  const Var x("x"), end("end");
  expect_given_up_soon(clamped(x, end, 16) - 1 <= clamped(x, end, 15));
}

TEST(RuleProofs, AreAskedAgainUnderOtherFacts) {
  const Var x("x");
  Facts facts;
  // max(x, 4) where x >= 1; at x == 0 it is 0.
  const Expr e = min(floordiv(x + 3, 4) * 4, max(x, 4));
  const std::string as_it_stands = to_text(rewrite_simplify(e, facts));
  {
    const auto scope = facts.assume(Expr(1) <= x);
    EXPECT_EQ(to_text(rewrite_simplify(e, facts)), "max(x, 4)");
  }
  EXPECT_EQ(to_text(rewrite_simplify(e, facts)), as_it_stands);
  EXPECT_NE(as_it_stands, "max(x, 4)");
}

}  // namespace
}  // namespace tenon::arith
