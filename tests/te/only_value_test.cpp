// Extents that only all values of the loops around show to be one number.
#include "te/bounds/only_value.h"

#include <gtest/gtest.h>

namespace tenon::te {
namespace {

using namespace tir;
using arith::Interval;

struct OnlyValueTest : ::testing::Test {
  Var i{"i"}, n{"n"};
  arith::IntervalMap values;
  OnlyValueTest() { values.set(i, Interval::of(0, 7)); }
};

/// 6 or 4 elements are one tile of 6.
TEST_F(OnlyValueTest, IsThatOfAllPoints) {
  const Expr elements = min(i * 3 + 2, 20) + 4 - min(i * 3, 20);
  EXPECT_EQ(only_value(floordiv(elements + 5, 6), values), 1);
  EXPECT_EQ(only_value(floordiv(elements, 2), values), std::nullopt);
}

TEST_F(OnlyValueTest, IsUnknownWhereAVariableHasNoEnds) {
  EXPECT_EQ(only_value(min(i, 0) + min(n, 0), values), std::nullopt);
}

TEST_F(OnlyValueTest, IsUnknownWhereALastValueIsNoNumber) {
  values.set(i, Interval::of(Expr(0), min(n, 15)));
  EXPECT_EQ(only_value(floormod(i, 10) + 1, values), std::nullopt);
}

TEST_F(OnlyValueTest, IsNotAskedOfManyPoints) {
  values.set(n, Interval::of(0, 100'000));
  EXPECT_EQ(only_value(floordiv(min(n, 1), 2), values), std::nullopt);
}

}  // namespace
}  // namespace tenon::te
