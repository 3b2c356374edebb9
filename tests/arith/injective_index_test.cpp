#include "tenon/arith/dependence.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "tenon/interp/evaluate.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"

namespace tenon::arith {
namespace {

using namespace tir;

const Var i("i"), j("j"), n("n"), m("m");

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

}  // namespace
}  // namespace tenon::arith
