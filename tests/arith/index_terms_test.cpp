#include "tenon/arith/index_terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon::arith {
namespace {

using namespace tir;

struct Terms {
  bool fits;
  std::vector<std::pair<std::string, std::int64_t>> terms;
  std::int64_t constant = 0;
};

Terms terms_of(const Expr& e) {
  Terms result;
  result.fits = for_each_term(e, 1, result.constant, [&](const Expr& term, std::int64_t c) {
    result.terms.emplace_back(print_expr(term), c);
    return true;
  });
  return result;
}

const Var i("i"), j("j");

TEST(IndexTerms, DifferencesAndMultiplesOfSumsAreTakenApart) {
  const Terms t = terms_of(i * 16 - (j + 3) * 2);
  EXPECT_TRUE(t.fits);
  EXPECT_EQ(t.terms, (decltype(t.terms){{"i", 16}, {"j", -2}}));
  EXPECT_EQ(t.constant, -6);
}

TEST(IndexTerms, WhatIsNoSumIsATerm) {
  const Terms t = terms_of(floordiv(i, 4) * 8 + i * j);
  EXPECT_EQ(t.terms, (decltype(t.terms){{"floordiv(i, 4)", 8}, {"(i*j)", 1}}));
}

TEST(IndexTerms, CoefficientsBeyond64BitsAreSaid) {
  const Expr large = make_int(Int(64), std::numeric_limits<std::int64_t>::max());
  EXPECT_FALSE(terms_of(Var("n", Int(64)) * large * 2).fits);
}

TEST(Reach, ValuesLieBetweenTheEnds) {
  Reach reach(5);  // 5 + 2 * [0, 3] - [0, 4] is in [1, 11]
  reach.add(2, 0, 3);
  reach.add(-1, 0, 4);
  EXPECT_TRUE(reach.misses(-10, 0));
  EXPECT_TRUE(reach.misses(12, 20));
  EXPECT_FALSE(reach.misses(11, 20));
}

TEST(Reach, ValuesAreEqualModuloTheCommonDivisor) {
  Reach reach(3);  // 3, 11, 19, ...
  reach.add(8, 0, std::nullopt);
  EXPECT_TRUE(reach.misses(4, 10));
  EXPECT_FALSE(reach.misses(4, 11));
}

TEST(Reach, RowsAreApartButForWhatTheirElementsReach) {
  Reach reach(0);  // 144 * [-2, 2] + [1, 8]
  reach.add(144, 0, 2);
  reach.add(-144, 0, 2);
  reach.add(1, 1, 8);
  EXPECT_TRUE(reach.misses(0, 0));
  EXPECT_TRUE(reach.misses(9, 144));
  EXPECT_FALSE(reach.misses(0, 1));
  EXPECT_FALSE(reach.misses(9, 145));
  EXPECT_FALSE(reach.misses(-143, -143));
}

TEST(Reach, SmallFactorsThatReachNearlyAllNumbersMissNone) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() - 100;
  Reach reach(0);
  reach.add(1, -kFar, kFar);
  reach.add(32, std::nullopt, std::nullopt);
  EXPECT_FALSE(reach.misses(0, 0));
}

TEST(Reach, NoValueOfThreeFactorsIsMissed) {
  // Every sum, against every window.
  for (int constant = -3; constant <= 3; ++constant) {
    std::vector<std::int64_t> values;
    for (int x = -1; x <= 1; ++x)
      for (int y = 0; y <= 2; ++y)
        for (int z = -2; z <= 1; ++z) values.push_back(constant + 24 * x - 7 * y + 2 * z);
    Reach reach(constant);
    reach.add(24, -1, 1);
    reach.add(-7, 0, 2);
    reach.add(2, -2, 1);
    for (std::int64_t low = -50; low <= 40; ++low)
      for (std::int64_t high = low; high <= low + 4; ++high) {
        const bool is_hit = std::any_of(values.begin(), values.end(),
                                        [&](std::int64_t v) { return low <= v && v <= high; });
        EXPECT_FALSE(is_hit && reach.misses(low, high)) << constant << " " << low << " " << high;
      }
  }
}

TEST(Reach, AnEndThatOverflowsIsInfinite) {
  Reach reach(1);
  reach.add(std::numeric_limits<std::int64_t>::max(), 0, 2);
  EXPECT_TRUE(reach.misses(-5, 0));
  EXPECT_FALSE(reach.misses(100, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace
}  // namespace tenon::arith
