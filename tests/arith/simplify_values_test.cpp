// Simplification keeps values: random expressions, and the rows that the reference gets wrong, at
// every point of small ranges.
#include <gtest/gtest.h>

#include <random>

#include "tenon/arith/simplify.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/expr.h"
#include "tests/tables/table.h"

namespace tenon::arith {
namespace {

using namespace tir;

class RandomExpressions {
 public:
  RandomExpressions(unsigned seed, std::vector<Var> vars)
      : random_(seed), vars_(std::move(vars)), type_(vars_.front().dtype()) {}

  Expr number(int depth) {
    if (depth == 0 || pick(9) == 0)
      return pick(3) == 0 ? constant(pick(41) - 20) : vars_[pick(vars_.size())];
    auto binary = [&](BinaryOp op) {
      return make_binary(op, number(depth - 1), number(depth - 1));
    };
    auto with_constant = [&](BinaryOp op, Expr c) {
      return make_binary(op, number(depth - 1), std::move(c));
    };
    switch (pick(14)) {
      case 0:
      case 1:
        return binary(BinaryOp::Add);
      case 2:
        return binary(BinaryOp::Sub);
      case 3:
        return with_constant(BinaryOp::Add, constant(pick(21) - 10));
      case 4:
      case 5:
        return with_constant(BinaryOp::Mul, constant(pick(13) - 4));
      case 6:
        return with_constant(BinaryOp::FloorDiv, divisor());
      case 7:
        return with_constant(BinaryOp::FloorMod, divisor());
      case 8:
        return with_constant(BinaryOp::TruncDiv, divisor());
      case 9:
        return with_constant(BinaryOp::TruncMod, divisor());
      case 10:
        return binary(BinaryOp::Min);
      case 11:
        return binary(BinaryOp::Max);
      case 12:
        return make_select(condition(depth - 1), number(depth - 1), number(depth - 1));
      default:
        return make_binary(BinaryOp::Mul, vars_[pick(vars_.size())], number(depth - 1));
    }
  }

  Expr condition(int depth) {
    constexpr BinaryOp kComparisons[] = {BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt,
                                         BinaryOp::Ge, BinaryOp::Eq, BinaryOp::Ne};
    if (depth > 0 && pick(3) == 0) {
      if (pick(4) == 0) return make_not(condition(depth - 1));
      const BinaryOp op = pick(2) == 0 ? BinaryOp::And : BinaryOp::Or;
      return make_binary(op, condition(depth - 1), condition(depth - 1));
    }
    const Expr right = pick(2) == 0 ? constant(pick(31) - 15) : number(depth);
    return make_binary(kComparisons[pick(6)], number(depth), right);
  }

 private:
  std::int64_t pick(std::size_t n) { return static_cast<std::int64_t>(random_() % n); }
  Expr constant(std::int64_t value) const { return make_int(type_, wrap(value, type_)); }
  Expr divisor() {
    constexpr std::int64_t kDivisors[] = {2, 3, 4, 6, 8, 12, 16, 5, -2, -3, -4};
    const std::int64_t value = kDivisors[pick(std::size(kDivisors))];
    return constant(type_.is_uint() ? std::abs(value) : value);
  }

  std::mt19937 random_;
  std::vector<Var> vars_;
  DataType type_;
};

struct Square {
  int first, last;
};

/// Calls f with the values of the two variables.
template <class F>
void for_each_point(const std::vector<Var>& vars, Square s, const F& f) {
  for (int x = s.first; x <= s.last; ++x)
    for (int y = s.first; y <= s.last; ++y)
      f([&vars, x, y](const Var& var) -> std::int64_t { return var.same_as(vars[0]) ? x : y; });
}

void expect_equal_values(const Expr& a, const Expr& b, const std::vector<Var>& vars, Square s) {
  for_each_point(vars, s, [&](const auto& value) {
    if (testing::Test::HasFatalFailure()) return;
    ASSERT_EQ(evaluate_int(a, value), evaluate_int(b, value))
        << to_text(a) << "\nbecame " << to_text(b) << "\nx = " << value(vars[0])
        << ", y = " << value(vars.back());
  });
}

constexpr Square kAll{-13, 13}, kNatural{0, 16};

TEST(SimplifyValues, RandomNumbers) {
  TableScope scope("x:any y:any");
  RandomExpressions random(11, scope.vars());
  for (int i = 0; i < 4000 && !HasFatalFailure(); ++i) {
    const Expr e = random.number(1 + i % 4);
    expect_equal_values(e, rewrite_simplify(e, scope.facts()), scope.vars(), kAll);
    expect_equal_values(e, simplify(e, scope.facts()), scope.vars(), kAll);
  }
}

TEST(SimplifyValues, RandomNumbersInRanges) {
  TableScope scope("x:[0,17) y:[0,17)");
  RandomExpressions random(12, scope.vars());
  for (int i = 0; i < 4000 && !HasFatalFailure(); ++i) {
    const Expr e = random.number(1 + i % 4);
    expect_equal_values(e, simplify(e, scope.facts()), scope.vars(), kNatural);
  }
}

TEST(SimplifyValues, RandomConditions) {
  TableScope scope("x:any y:any");
  RandomExpressions random(13, scope.vars());
  for (int i = 0; i < 4000 && !HasFatalFailure(); ++i) {
    const Expr e = random.condition(1 + i % 3);
    expect_equal_values(e, simplify(e, scope.facts()), scope.vars(), kAll);
  }
}

/// Under a condition, values are kept where it holds.
TEST(SimplifyValues, RandomNumbersUnderConditions) {
  TableScope scope("x:[0,17) y:[0,17)");
  RandomExpressions random(14, scope.vars());
  for (int i = 0; i < 3000; ++i) {
    const Expr given = random.condition(1 + i % 2), e = random.number(1 + i % 3);
    Facts facts;
    for (const Var& var : scope.vars()) facts.bind(var, Range(0, 17));
    const auto known = facts.assume(given);
    const Expr result = simplify(e, facts);
    for_each_point(scope.vars(), kNatural, [&](const auto& value) {
      if (HasFatalFailure() || evaluate_int(given, value) == 0) return;
      ASSERT_EQ(evaluate_int(e, value), evaluate_int(result, value))
          << to_text(e) << "\nbecame " << to_text(result) << "\nunder " << to_text(given);
    });
    if (HasFatalFailure()) return;
  }
}

TEST(SimplifyValues, WhatIsProvedHolds) {
  TableScope scope("x:[0,17) y:[0,17)");
  RandomExpressions random(15, scope.vars());
  int proved = 0;
  for (int i = 0; i < 6000; ++i) {
    const Expr e = random.condition(1 + i % 3);
    if (!can_prove(e, scope.facts())) continue;
    ++proved;
    for_each_point(scope.vars(), kNatural,
                   [&](const auto& value) { EXPECT_NE(evaluate_int(e, value), 0) << to_text(e); });
    if (HasFailure()) return;
  }
  EXPECT_GT(proved, 100);
}

TEST(SimplifyValues, BoundsAndModularSetsContainAllValues) {
  TableScope scope("x:[0,17) y:[0,17)");
  RandomExpressions random(16, scope.vars());
  for (int i = 0; i < 6000; ++i) {
    const Expr e = random.number(1 + i % 4);
    const ConstBound bound = const_bound(e, scope.facts());
    const ModularSet set = modular_set(e, scope.facts());
    for_each_point(scope.vars(), kNatural, [&](const auto& value) {
      const std::int64_t v = evaluate_int(e, value);
      EXPECT_TRUE((!bound.min || *bound.min <= v) && (!bound.max || v <= *bound.max))
          << v << " of " << to_text(e);
      EXPECT_EQ(set.coeff == 0 ? v : (v % set.coeff + set.coeff) % set.coeff, set.base)
          << v << " of " << to_text(e);
    });
    if (HasFailure()) return;
  }
}

/// A wrapped value that is cast to a wider type keeps its wrapped value.
TEST(SimplifyValues, OfTypesThatWrap) {
  for (const DataType type : {UInt(8), Int(8), UInt(16), UInt(32)}) {
    const std::vector<Var> vars = {Var("x", type), Var("y", type)};
    const std::int64_t least = type.is_uint() ? 0 : -128,
                       most = (std::int64_t{1} << (type.bits - (type.is_uint() ? 0 : 1))) - 1;
    const std::vector<std::int64_t> values = {least, least + 1, 2,        3,
                                              100,   most / 3,  most - 1, most};
    RandomExpressions random(17, vars);
    for (int i = 0; i < 800 && !HasFatalFailure(); ++i) {
      const Expr e = cast(Int(64), random.number(1 + i % 3));
      const std::int64_t c = 1 + i % 7;
      for (const Expr& whole : {min(e, c), max(e, c), floordiv(e + 1, c + 1), floormod(e, c + 1),
                                select(e < c, e, Expr(0)), e + c}) {
        const Expr simple = simplify(whole, Facts());
        for (const std::int64_t x : values)
          for (const std::int64_t y : values) {
            const auto at = [&](const Var& var) { return var.same_as(vars[0]) ? x : y; };
            ASSERT_EQ(evaluate_int(simple, at), evaluate_int(whole, at))
                << to_text(whole) << " became " << to_text(simple) << "\nx = " << x
                << ", y = " << y;
          }
      }
    }
  }
}

/// No sum here wraps: x is near the least number. The constants of each add up beyond int32.
TEST(SimplifyValues, SumsWhoseConstantsAddUpBeyondTheType) {
  const Var x("x");
  const Expr least = make_int(Int(32), -2147483648), most = make_int(Int(32), 2147483647);
  Facts facts;
  facts.bind(x, Range::from_min_extent(least, 20));
  for (const Expr& e : {x - least, (x + most) + 7, 5 - (least - x), (x + 1073741824) * 2 + most})
    for (const Expr& whole : {e, floordiv(e, 4), floormod(e, 3), truncdiv(e, 5)})
      for (std::int64_t n = 0; n < 20; ++n) {
        const auto at = [&](const Var&) { return n - 2147483648; };
        EXPECT_EQ(evaluate_int(simplify(whole, facts), at), evaluate_int(whole, at))
            << to_text(whole) << " is not " << to_text(simplify(whole, facts)) << " at " << n;
      }
}

TEST(SimplifyValues, RowsThatTheReferenceGetsWrong) {
  for (const Row& row : read_table("simplify.tsv")) {
    if (row.cells[0] != "weak") continue;
    TableScope scope(row.cells[1]);
    const Expr e = scope.parse(row.cells[3]);
    const Square s = row.cells[1] == "i:[0,8)"  ? Square{0, 7}
                     : row.cells[1] == "n:size" ? Square{0, 40}
                                                : Square{-40, 40};
    expect_equal_values(e, rewrite_simplify(e, scope.facts()), scope.vars(), s);
    expect_equal_values(e, simplify(e, scope.facts()), scope.vars(), s);
  }
}

}  // namespace
}  // namespace tenon::arith
