#include "tenon/arith/index_terms.h"

#include <gtest/gtest.h>

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

TEST(Reach, AnEndThatOverflowsIsInfinite) {
  Reach reach(1);
  reach.add(std::numeric_limits<std::int64_t>::max(), 0, 2);
  EXPECT_TRUE(reach.misses(-5, 0));
  EXPECT_FALSE(reach.misses(100, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace
}  // namespace tenon::arith
