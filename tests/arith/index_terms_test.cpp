// Indices as sums of terms: which elements they reach, and whether they reach each once.
#include "tenon/arith/index_terms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "tenon/arith/dependence.h"
#include "tenon/arith/iteration_box.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon::arith {
namespace {

// ---- terms --------------------------------------------------------------------------------------

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

// ---- injective indices --------------------------------------------------------------------------

const Var n("n"), m("m");

FreeVar in(const Var& var, const Expr& extent, const Expr& min = 0) {
  return {var, Range::from_min_extent(min, extent)};
}

bool is_injective(const Expr& index, const std::vector<FreeVar>& loops,
                  const std::vector<Expr>& guards = {}) {
  Access access = access_of(AccessKind::Write, decl_buffer({1024}), {index});
  access.guards = guards;
  Facts facts;
  return touches_distinct_elements(access, loops, facts);
}

TEST(InjectiveIndex, Digits) {
  EXPECT_TRUE(is_injective(i * 8 + j, {in(i, 4), in(j, 8)}));
  EXPECT_TRUE(is_injective(i + j * 4 + 7, {in(i, 4), in(j, 8)}));
  EXPECT_TRUE(is_injective(63 - i * 8 - j, {in(i, 4), in(j, 8)}));
  EXPECT_TRUE(is_injective(i * 3 - j, {in(i, 4), in(j, 3)}));
}

TEST(InjectiveIndex, StepsThatOverlap) {
  EXPECT_FALSE(is_injective(i * 8 + j, {in(i, 4), in(j, 9)}));
  EXPECT_FALSE(is_injective(i + j, {in(i, 2), in(j, 2)}));
  EXPECT_FALSE(is_injective(i - i, {in(i, 2)}));
}

TEST(InjectiveIndex, WhatIsNoSumOfSteps) {
  EXPECT_FALSE(is_injective(floordiv(i, 2), {in(i, 16)}));
  EXPECT_FALSE(is_injective(floormod(i, 8), {in(i, 16)}));
  EXPECT_FALSE(is_injective(i * i, {in(i, 4, -2)}));
  EXPECT_FALSE(is_injective(i * j, {in(i, 4), in(j, 4)}));
}

TEST(InjectiveIndex, EveryLoopTakesPart) {
  EXPECT_FALSE(is_injective(i, {in(i, 4), in(j, 2)}));
  EXPECT_TRUE(is_injective(Expr(3), {}));
}

TEST(InjectiveIndex, SymbolicRows) {
  EXPECT_TRUE(is_injective(i * n + j, {in(i, m), in(j, n)}));
  EXPECT_FALSE(is_injective(i * n + j, {in(i, m), in(j, n + 1)}));
  EXPECT_FALSE(is_injective(i * n, {in(i, m)}));  // n may be 0
}

TEST(InjectiveIndex, GuardsKeepStepsApart) {
  const Var k("k");
  const std::vector<FreeVar> loops{in(i, 6), in(j, 6), in(k, 3)};
  EXPECT_FALSE(is_injective(i * 16 + j * 3 + k, loops));
  EXPECT_TRUE(is_injective(i * 16 + j * 3 + k, loops, {j * 3 + k < 16}));
  EXPECT_FALSE(is_injective(i * 16 + j * 3 + k, loops, {j * 3 + k < 17}));
  EXPECT_TRUE(is_injective(n * 96 + i * 16 + j * 3 + k, {in(n, 4), loops[0], loops[1], loops[2]},
                           {j * 3 + k < 16}));
}

TEST(InjectiveIndex, LanesAreALoopMore) {
  EXPECT_TRUE(is_injective(make_ramp(i * 4, 1, 4), {in(i, 4)}));
  EXPECT_FALSE(is_injective(make_ramp(i, 1, 4), {in(i, 4)}));
  EXPECT_TRUE(is_injective(make_ramp(i, 4, 4), {in(i, 4)}));
  EXPECT_FALSE(is_injective(make_broadcast(i, 4), {in(i, 4)}));
}

TEST(InjectiveIndex, AgreesWithAllValues) {
  std::mt19937 random(1);
  int proved = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto pick = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    const int a = pick(-6, 6), b = pick(-6, 6), rows = pick(1, 5), columns = pick(1, 5);
    const int first = pick(-3, 3);
    const Expr index = i * a + j * b + pick(-5, 5);
    std::set<std::int64_t> seen;
    for (int x = first; x < first + rows; ++x)
      for (int y = 0; y < columns; ++y)
        seen.insert(evaluate_int(index, [&](const Var& v) { return v.same_as(i) ? x : y; }));
    const bool is_claimed = is_injective(index, {in(i, rows, first), in(j, columns)});
    const bool holds = seen.size() == static_cast<std::size_t>(rows * columns);
    EXPECT_TRUE(!is_claimed || holds) << print_expr(index) << " " << rows << " " << columns;
    proved += is_claimed;
  }
  EXPECT_GT(proved, 500);
}

// ---- ends ---------------------------------------------------------------------------------------

TEST(IterationBox, EndsAreTheLeastAndTheGreatestValue) {
  std::mt19937 random(1);
  int found = 0;
  for (int round = 0; round < 3000; ++round) {
    const auto pick = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    const int first = pick(-9, 9), rows = pick(1, 9), columns = pick(1, 9);
    const auto operation = [&](const Expr& e) -> Expr {
      switch (pick(0, 5)) {
        case 0:
          return floordiv(e, pick(1, 5));
        case 1:
          return floormod(e, pick(1, 5));
        case 2:
          return min(pick(-9, 9), e);
        case 3:
          return max(e, pick(-9, 9));
        case 4:
          return cast(Int(32), cast(Int(64), e));
        default:
          return e;
      }
    };
    const auto index_of = [&](const Var& var) {
      return operation(var * pick(-2, 2) + pick(-4, 4));
    };
    const Expr index = operation(index_of(i) + operation(index_of(pick(0, 3) ? j : i)));
    std::set<std::int64_t> seen;
    for (int x = first; x < first + rows; ++x)
      for (int y = 0; y < columns; ++y)
        seen.insert(evaluate_int(index, [&](const Var& v) { return v.same_as(i) ? x : y; }));
    const IterationBox box({{i, Range::from_min_extent(Expr(first), Expr(rows))},
                            {j, Range::from_extent(Expr(columns))}});
    const std::optional<Interval> ends = box.ends_of(index);
    if (!ends) continue;
    ++found;
    EXPECT_EQ(constant_int(*ends->min()), *seen.begin()) << print_expr(index);
    EXPECT_EQ(constant_int(*ends->max()), *seen.rbegin()) << print_expr(index);
  }
  EXPECT_GT(found, 1500);
}

TEST(IterationBox, ABoxWithALoopOfNoIterationsIsEmpty) {
  const IterationBox box({{i, Range::from_extent(Expr(0))}, {j, Range::from_extent(Expr(4))}});
  EXPECT_TRUE(is_true(box.or_empty(make_false())));
}

}  // namespace
}  // namespace tenon::arith
