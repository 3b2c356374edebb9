// Sums that `simplify` takes for normal without a visit are what both passes make of them.
#include "arith/normal_sum.h"

#include <gtest/gtest.h>

#include "arith/canonicalizer.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon::arith {
namespace {

using namespace tir;

/// The passes, visiting everything.
Expr rewritten(const Expr& e, const Facts& facts) {
  RewriteContext context(facts, nullptr);
  context.uses_literals = true;
  context.visit = [&](const Expr& part) { return rewrite_node(part, context); };
  return context.visit(e);
}
Expr canonical(const Expr& e, const Facts& facts) { return Canonicalizer(facts).sum_of(e).expr(); }

struct Sums {
  Sums() {
    // Variables that share a bit are taken for the same.
    for (std::uint64_t bits = 0; vars.size() < 3;) {
      const Var v("v" + std::to_string(tried.size()));
      tried.push_back(v);
      if ((bits & v.node().contents.variables) != 0) continue;
      bits |= v.node().contents.variables;
      facts.bind(v, Range(0, 100));
      vars.push_back(v);
    }
  }

  /// Every sum of up to three of x, y, x*2, y*2, x*8, y*8 and so on, and up to two constants.
  template <class F>
  void for_each(const F& f) const {
    std::vector<Expr> terms;
    for (const Var& v : vars) {
      terms.emplace_back(v);
      for (const int factor : {-1, 0, 1, 2, 8})
        terms.push_back(make_binary(BinaryOp::Mul, v, Expr(factor)));
    }
    for (const int constant : {-2, 0, 2}) terms.push_back(Expr(constant));
    for (const Expr& a : terms) {
      f(a);
      for (const Expr& b : terms) {
        const Expr two = make_binary(BinaryOp::Add, a, b);
        f(two);
        for (const Expr& c : terms) {
          f(make_binary(BinaryOp::Add, two, c));
          f(make_binary(BinaryOp::Add, c, two));
          f(make_binary(BinaryOp::Add, two, make_binary(BinaryOp::Add, c, terms.front())));
        }
      }
    }
  }

  std::vector<Var> vars, tried;
  Facts facts;
};

TEST(NormalSum, IsWhatBothPassesLeave) {
  const Sums sums;
  int found = 0;
  sums.for_each([&](const Expr& e) {
    if (!is_normal_sum(e, sums.facts.state())) return;
    ++found;
    EXPECT_TRUE(structural_equal(rewritten(e, sums.facts), e)) << print_expr(e);
    EXPECT_TRUE(structural_equal(canonical(e, sums.facts), e)) << print_expr(e);
  });
  // One of three variables, with a factor of 1, 2 or 8; two of them, with falling factors or twice
  // 1; each of these with 2 behind it as well, but for x*2 + 2; three, of which the last two may
  // have 1.
  constexpr int kOne = 3 * 3, kTwo = 6 * (3 + 1), kThree = 6 * (1 + 2 + 1);
  EXPECT_EQ(found, kOne + (kOne - 3) + 2 * kTwo + kThree);
}

TEST(NormalSum, HasVariablesWithoutValues) {
  Facts facts;
  const Var x("x"), y("y");
  facts.bind(y, Range(3, 4));
  const Expr e = make_binary(BinaryOp::Add, x, y);
  EXPECT_FALSE(is_normal_sum(e, facts.state()));
  EXPECT_EQ(print_expr(simplify(e, facts)), "(x + 3)");
}

TEST(NormalSum, IsOfScalarIndices) {
  const Facts facts;
  EXPECT_FALSE(is_normal_sum(Var("x", Float(32)), facts.state()));
  EXPECT_FALSE(is_normal_sum(Var("x", Int(8)), facts.state()));
  EXPECT_TRUE(is_normal_sum(Var("x", Int(64)), facts.state()));
}

}  // namespace
}  // namespace tenon::arith
