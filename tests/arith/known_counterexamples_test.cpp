// Rules and facts that simplifiers of this kind have had and that are false, each with the values
// that show it. Whatever ours makes of such an expression has its value: at that point, and at all
// small ones.
#include <gtest/gtest.h>

#include "tenon/arith/const_bound.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/modular_set.h"
#include "tenon/arith/simplify.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/print.h"

namespace tenon::arith {
namespace {

using namespace tir;

struct KnownCounterexamples : ::testing::Test {
  Var x{"x"}, y{"y"};

  static std::int64_t value(const Expr& e, const Var& x, std::int64_t of_x, std::int64_t of_y) {
    return evaluate_int(e, [&](const Var& var) { return var.same_as(x) ? of_x : of_y; });
  }

  /// `e`, at every point from `first` to `last` in both directions.
  void keeps_its_value(const Expr& e, std::int64_t first = -7, std::int64_t last = 7) const {
    const Expr simple = simplify(e), rewritten = rewrite_simplify(e), sums = canonical_simplify(e);
    for (std::int64_t a = first; a <= last; ++a)
      for (std::int64_t b = first; b <= last; ++b) {
        const std::int64_t right = value(e, x, a, b);
        for (const Expr& form : {simple, rewritten, sums})
          EXPECT_EQ(value(form, x, a, b), right)
              << print_expr(e) << " as " << print_expr(form) << " at " << a << ", " << b;
      }
  }
};

TEST_F(KnownCounterexamples, OfQuotientsThatRoundTowardsZero) {
  keeps_its_value(truncdiv(x * 10 + 5, 10));                                // x = -1: 0, not -1
  keeps_its_value(truncdiv(x * 3 + y, 3));                                  // 1, -1: 0, not 1
  keeps_its_value(truncdiv(x + 5, 3) - truncdiv(x, 3));                     // 1: 2, not 1
  keeps_its_value(truncmod(truncdiv(truncmod(x, 20), 2) * 2, 4), -45, 45);  // 3: 2, not 1
  keeps_its_value(truncmod(x + y * -10, 2));                                // 1, 1: -1, not 1
  keeps_its_value(truncmod(x, 5) + floormod(x, 5) * 10);  // both roundings in one sum
}

TEST_F(KnownCounterexamples, OfMinimaAndMaxima) {
  keeps_its_value(min(3 - x, 2));                           // 0: 2, not 3
  keeps_its_value(min(x * -2, 0));                          // 1: -2, not 0
  keeps_its_value(min(x * 0, y));                           // with a factor of 0
  keeps_its_value(max(x * -3, y * -3));                     // a negative scale turns them round
  keeps_its_value(min(floordiv(x + 3, 4) * 4, max(x, 4)));  // 0: 0, not 4
}

TEST_F(KnownCounterexamples, OfComparisons) {
  keeps_its_value(select(y < x || y <= x, 1, 0));  // 0, 1: false
  keeps_its_value(select(y < x && y <= x, 1, 0));  // 1, 0: true
  keeps_its_value(select(x * 2 >= -1, 1, 0));      // 0 is a point
  keeps_its_value(select(x * 64 + y < x * 64 + 64, 1, 0), -70, 70);
}

TEST_F(KnownCounterexamples, OfRemaindersAndShifts) {
  keeps_its_value(floormod(x * 32 + y, 64));  // 0, -1: 63, not -1
  keeps_its_value(floormod(floormod(x + 1, 2) + y * 2, 4));
  keeps_its_value(1 << (x + 7));  // 3: 1024, not 0
  keeps_its_value(floordiv(x * -4, 3) + floordiv(x * 4, -3));
}

/// A remainder that has its dividend's sign: -3 of [-5, -1] by 7.
TEST_F(KnownCounterexamples, OfBoundsOfRemainders) {
  Facts facts;
  facts.bind(x, Range::from_min_extent(-5, 5));
  const ConstBound bound = const_bound(truncmod(x, 7), facts);
  EXPECT_LE(bound.min.value_or(-5), -5);
  EXPECT_GE(bound.max.value_or(-1), -1);
}

/// A divisor that goes through 0 is 1 and -1 on its way: 10 by [-4, 5].
TEST_F(KnownCounterexamples, OfBoundsOfQuotients) {
  Facts facts;
  facts.bind(y, Range::from_min_extent(-4, 10));
  const ConstBound bound = const_bound(floordiv(make_int(Int(32), 10), y), facts);
  EXPECT_LE(bound.min.value_or(-10), -10);
  EXPECT_GE(bound.max.value_or(10), 10);
}

TEST_F(KnownCounterexamples, OfRemaindersOfNegativeNumbers) {
  const ModularSet set = modular_set(x * 3 - 1, Facts());
  EXPECT_EQ(set.coeff, 3);
  EXPECT_EQ(set.base, 2);
}

}  // namespace
}  // namespace tenon::arith
