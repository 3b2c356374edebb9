// The simplifier: the forms of simplify.tsv, and that values stay.
#include "tenon/arith/simplify.h"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>
#include <sstream>

#include "tenon/arith/const_bound.h"
#include "tenon/arith/modular_set.h"
#include "tenon/arith/simplifier_memory.h"
#include "tenon/arith/wraps.h"
#include "tenon/interp/evaluate.h"
#include "tenon/support/error.h"
#include "tenon/support/match.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"
#include "tests/tables/table.h"

namespace tenon::arith {
namespace {

// ---- forms --------------------------------------------------------------------------------------

// The rewriter and `simplify` against simplify.tsv.

using namespace tir;

constexpr std::size_t kInput = 3, kSimplify = 5, kRewrite = 6, kAgain = 8;

/// Inputs whose form is deliberately another one, with that form.
const std::map<std::string, std::string>& deliberate() {
  static const std::map<std::string, std::string> forms = {
      // A division by what may be zero is not folded.
      {"floordiv(0, x)", "floordiv(0, x)"},
      // 0 times an infinity, and the difference of two, is no number.
      {"(f*0f32)", "(f*0f32)"},
      {"(0f32*f)", "(0f32*f)"},
      {"(h*0f16)", "(h*0f16)"},
      {"((f*0f32) + g)", "((f*0f32) + g)"},
      {"(0f32 / f)", "(0f32 / f)"},
      {"(broadcast(f, 4)*broadcast(0f32, 4))", "broadcast((f*0f32), 4)"},
      {"(f - f)", "(f - f)"},
      {"((f*g) - (f*g))", "((f*g) - (f*g))"},
      // Sums of floats are rounded: taking away what was added need not restore.
      {"((f + g) - g)", "((f + g) - g)"},
      {"((f + g) - f)", "((f + g) - f)"},
      {"(f - (f + g))", "(f - (f + g))"},
      {"(f - (g + f))", "(f - (g + f))"},
      // Neither `<` nor `>=` holds of a NaN.
      {"!(f < g)", "!(f < g)"},
      // Division by a constant stays unless the reciprocal is exact.
      {"(f / 3f32)", "(f / 3f32)"},
      {"(f / 7f32)", "(f / 7f32)"},
      {"(f / 9f32)", "(f / 9f32)"},
      {"(f / 10f32)", "(f / 10f32)"},
      {"(f / 49f32)", "(f / 49f32)"},
      {"(f / 255f32)", "(f / 255f32)"},
      {"(f / 0.1f32)", "(f / 0.1f32)"},
      {"(h / 3f16)", "(h / 3f16)"},
      {"(d / 3f64)", "(d / 3f64)"},
      // A constant of a narrow type is a value of that type.
      {"(0.1f16*3f16)", "0.299805f16"},
      // -0.0 + 0.0 is 0.0.
      {"(f + 0f32)", "(f + 0f32)"},
      {"(0f32 + f)", "(0f32 + f)"},
      {"(broadcast(f, 4) + broadcast(0f32, 4))", "broadcast((f + 0f32), 4)"},
      {"@tir.exp((f + 0f32), dtype=float32)", "@tir.exp((f + 0f32), dtype=float32)"},
      {"@tir.sqrt(((f*1f32) + 0f32), dtype=float32)", "@tir.sqrt((f + 0f32), dtype=float32)"},
  };
  return forms;
}

bool is_compared(const Row& row) {
  return row.cells[0] != "weak" && !deliberate().contains(row.cells[kInput]);
}

std::string place(const Row& row) {
  return "line " + std::to_string(row.line) + " " + row.cells[0] + ", " + row.cells[1] + " given " +
         row.cells[2] + "\n  input    " + row.cells[kInput];
}

void expect_text(const Row& row, const TableScope& scope, const Expr& result,
                 const std::string& expected) {
  // Floats are compared as they print: the table has six digits of them.
  const bool is_float = row.cells[0] == "float";
  EXPECT_TRUE(is_float ? to_text(result) == expected
                       : structural_equal(result, scope.parse(expected)))
      << place(row) << "\n  expected " << expected << "\n  got      " << to_text(result);
}

TEST(Simplify, RewrittenFormsOfTheTable) {
  for (const Row& row : read_table("simplify.tsv")) {
    if (!is_compared(row)) continue;
    TableScope scope(row.cells[1], row.cells[2]);
    expect_text(row, scope, rewrite_simplify(scope.parse(row.cells[kInput]), scope.facts()),
                row.cells[kRewrite]);
  }
}

TEST(Simplify, FormsOfTheTable) {
  for (const Row& row : read_table("simplify.tsv")) {
    if (!is_compared(row)) continue;
    TableScope scope(row.cells[1], row.cells[2]);
    expect_text(row, scope, simplify(scope.parse(row.cells[kInput]), scope.facts()),
                row.cells[kSimplify]);
  }
}

TEST(Simplify, FormsOfFormsOfTheTable) {
  for (const Row& row : read_table("simplify.tsv")) {
    if (!is_compared(row)) continue;
    TableScope scope(row.cells[1], row.cells[2]);
    const std::string& expected =
        row.cells[kAgain] == "=" ? row.cells[kSimplify] : row.cells[kAgain];
    expect_text(row, scope, simplify(scope.parse(row.cells[kSimplify]), scope.facts()), expected);
  }
}

TEST(Simplify, FormsThatDeliberatelyDiffer) {
  std::map<std::string, std::string> forms = deliberate();
  for (const Row& row : read_table("simplify.tsv")) {
    const auto expected = forms.find(row.cells[kInput]);
    if (expected == forms.end()) continue;
    TableScope scope(row.cells[1], row.cells[2]);
    EXPECT_EQ(to_text(rewrite_simplify(scope.parse(row.cells[kInput]), scope.facts())),
              expected->second)
        << place(row);
    forms.erase(expected);
  }
  EXPECT_TRUE(forms.empty()) << "no row of the table is " << forms.begin()->first;
}

// ---- beyond the table ---------------------------------------------------------------------------

TEST(Simplify, DifferencesThatOverflowProveNothing) {
  const Var x("x"), y("y");
  const Expr least = make_int(Int(32), std::numeric_limits<std::int32_t>::min());
  Facts facts;
  facts.bind(x, Range::from_min_extent(2, 33));
  facts.bind(y, Range::from_min_extent(least, 3));
  // x + least is at least least + 2, and y at most that; x - 2 is up to 32, and y - least up to 2.
  EXPECT_FALSE(tir::is_true(simplify((x + least) < y, facts)));
  EXPECT_FALSE(tir::is_true(simplify((x - 2) < (y - least), facts)));
}

TEST(Simplify, BitsOfConstantsAreConstants) {
  EXPECT_EQ(print_expr(simplify(~make_int(Int(64), 5))), "-6i64");
  EXPECT_EQ(print_expr(simplify(~make_int(UInt(8), 5))), "250u8");
  EXPECT_EQ(print_expr(simplify(popcount(make_int(Int(32), -1)))), "32");
  EXPECT_EQ(print_expr(simplify(clz(make_int(Int(16), 1)))), "15");
}

TEST(Simplify, ConstantsThatLeaveTheTypeStayApart) {
  TableScope scope("x:any");
  const Expr nested = scope.parse("floordiv(floordiv(x, 65536), 65536)");
  EXPECT_EQ(to_text(rewrite_simplify(nested, scope.facts())),
            "floordiv(floordiv(x, 65536), 65536)");
}

/// The factor modulo the divisor exceeds the divisor minus two: times 3, it leaves 64 bits.
TEST(Simplify, FactorsThatLeaveTheTypeStaySmall) {
  const Var i("i", Int(64));
  const Expr e = floormod(i * -2, make_int(Int(64), 9183074100603368720));
  Facts facts;
  facts.bind(i, Range::from_min_extent(0, 4));
  for (std::int64_t n = 0; n < 4; ++n) {
    const auto at = [&](const Var&) { return n; };
    EXPECT_EQ(evaluate_int(simplify(e, facts), at), evaluate_int(e, at)) << "at " << n;
  }
}

TEST(Simplify, LogarithmsOfConstantsAreRoundedToTheirType) {
  // In float32, the logarithm of 2^23 + 1 is 23.
  const Expr steps = make_call(Float(32), Intrin::log2, {make_float(Float(32), 8388609.0)});
  EXPECT_EQ(print_expr(simplify(make_call(Float(32), Intrin::ceil, {steps}))), "23f32");
  const Expr exact = make_call(Float(64), Intrin::log2, {make_float(Float(64), 8388609.0)});
  EXPECT_EQ(print_expr(simplify(make_call(Float(64), Intrin::ceil, {exact}))), "24f64");
}

TEST(Simplify, BoundsOfFloatsAreNotThoseOfTheirOperands) {
  const Var i("i"), x("x", Float(32));
  Facts facts;
  facts.bind(i, Range::from_min_extent(2, 3));
  const Expr low = cast(Float(32), i);
  // NaN is an operand, and the result is rounded.
  EXPECT_FALSE(const_bound(cast(Int(32), max(x, low)), facts).is_at_least(0));
  EXPECT_FALSE(const_bound(cast(Int(32), cast(Float(16), i * 1024) + cast(Float(16), i)), facts)
                   .is_below(4100 + 1));
  EXPECT_TRUE(const_bound(cast(Int(32), low), facts).is_below(5));
}

/// Two lets, one after the other, use one variable.
TEST(SimplifyStatements, ALetForgetsTheValueOfAnEarlierOne) {
  const Buffer a = decl_buffer({8}, Float(32), {.name = "A"});
  const Var x("x", Float(32));
  const Expr element = make_load(a, {Expr(5)});
  const auto let = [&](const Expr& value, int index) {
    return make_stmt(Let{x, value, make_store(a, x, {Expr(index)})});
  };
  const Stmt both = make_seq({let(make_float(Float(32), 3), 0), let(element, 1)});
  Facts facts;
  const Stmt simple = simplify_stmt(both, facts);
  EXPECT_TRUE(structural_equal(
      simple, make_seq({make_store(a, make_float(Float(32), 3), {Expr(0)}), let(element, 1)})))
      << print_stmt(simple);
}

TEST(Simplify, AlternatingRulesEnd) {
  TableScope scope("x:any");
  EXPECT_EQ(to_text(rewrite_simplify(scope.parse("((5 - x) < 3)"), scope.facts())),
            "((5 - x) < 3)");
}

TEST(Simplify, ValueOfABoundVariableTakesItsPlace) {
  const Var i("i"), j("j");
  Facts facts;
  facts.bind(i, j * 4 + 1);
  EXPECT_EQ(to_text(simplify(i * 2, facts)), "((j*8) + 2)");
  EXPECT_EQ(modular_set(i, facts), (ModularSet{4, 1}));
}

TEST(Simplify, LetOfAConstantIsInlinedAndOthersStay) {
  const Var v("v"), x("x");
  EXPECT_EQ(to_text(simplify(make_let(v, 3, v + x))), "(x + 3)");
  EXPECT_TRUE(simplify(make_let(v, x * 8, v + v * x)).as<LetExpr>());
}

/// The sum of the value over k in [min, min + extent).
Expr sum_over(const Var& k, Expr min, Expr extent, Expr value) {
  const Var x("x"), y("y");
  const auto sum = std::make_shared<const CommReducerNode>(
      CommReducerNode{{x}, {y}, {x + y}, {make_int(Int(32), 0)}, "sum"});
  const IterVar axis(Range::from_min_extent(std::move(min), std::move(extent)), k,
                     IterKind::Reduce);
  return make_reduce(std::make_shared<const ReduceNode>(
                         ReduceNode{sum, {std::move(value)}, {}, {axis}, make_true()}),
                     0);
}

Expr summand(const Expr& sum) { return sum.as<Reduce>()->reduction->source[0]; }

TEST(Simplify, RangesOfAReductionsAxesHoldInside) {
  const Var k("k");
  EXPECT_EQ(to_text(summand(simplify(sum_over(k, 1, 7, max(k, 1))))), "k");
}

TEST(Simplify, RangesOfAReductionsAxesEndWithIt) {
  const Var k("k");
  const Facts facts;
  const Expr clamped = max(k, 1);
  simplify(sum_over(k, 1, 7, clamped), facts);
  EXPECT_EQ(to_text(simplify(clamped, facts)), "max(k, 1)");
  EXPECT_FALSE(can_prove(k >= 1, facts));
}

TEST(Simplify, FactsAboutAReductionAxisEndWithTheReduction) {
  const Var k("k");
  Facts facts;
  facts.bind(k, Range(0, 16));
  simplify(sum_over(k, 1, 7, max(k, 1)), facts);
  EXPECT_FALSE(can_prove(k < 8, facts));
  EXPECT_TRUE(can_prove(k < 16, facts));
}

TEST(Simplify, OneAxisOfTwoReductionsHasTheRangeOfEach) {
  const Var k("k");
  const Expr clamped = max(k, 1);
  const Expr both = simplify(sum_over(k, 1, 7, clamped) + sum_over(k, 0, 8, clamped));
  const Binary& sum = *both.as<Binary>();
  EXPECT_EQ(to_text(summand(sum.a)), "k");
  EXPECT_EQ(to_text(summand(sum.b)), "max(k, 1)");
}

TEST(Simplify, RoundsAreOfRewriterAndCanonicalPassInTurn) {
  TableScope scope("x:any y:any");
  const Expr e = scope.parse("((x + y)*2)");
  EXPECT_EQ(to_text(simplify(e, scope.facts(), 1)), "((x + y)*2)");
  EXPECT_EQ(to_text(simplify(e, scope.facts(), 2)), "((x*2) + (y*2))");
}

TEST(Prove, UnknownIsNotProved) {
  const Var x("x");
  EXPECT_FALSE(can_prove(x < 5));
  EXPECT_FALSE(can_prove(x >= 5));
  EXPECT_FALSE(can_prove_equal(x, 0));
}

TEST(Prove, ScalesThatCannotBeNegatedAreNotBounded) {
  const Var x("x", Int(64)), y("y", Int(64));
  Facts facts;
  facts.bind(x, Range(make_int(Int(64), -19), make_int(Int(64), 16)));
  facts.bind(y, Range(make_int(Int(64), 0), make_int(Int(64), 2)));
  const Expr least = y * make_int(Int(64), std::numeric_limits<std::int64_t>::min());
  // At y = 1 and x = -19, -2^63 + 19 is less than -19.
  EXPECT_FALSE(can_prove(least - x > x, facts));
  EXPECT_FALSE(can_prove(x < least, facts));
}

TEST(Prove, FloatsAreEqualOnlyIfTheyAreTheSameExpression) {
  const Var x("x", Float(32)), y("y", Float(32)), n("n");
  EXPECT_TRUE(can_prove_equal(x + 1, x + 1));
  EXPECT_FALSE(can_prove_equal(x, y));
  EXPECT_FALSE(can_prove_equal(x, n));
  EXPECT_FALSE(can_prove_equal(make_const(Float(32), 0.0), make_const(Float(32), -0.0)));
}

TEST(Prove, UnderFacts) {
  const Var i("i"), n = Var::size("n");
  Facts facts;
  facts.bind(i, Range(0, 8));
  EXPECT_TRUE(can_prove(i * 4 + 3 < 32, facts));
  EXPECT_FALSE(can_prove(i * 4 + 4 < 32, facts));
  EXPECT_TRUE(can_prove_at_least(i + n, 0, facts));
  EXPECT_TRUE(can_prove_below(i, 8, facts));
  EXPECT_TRUE(can_prove_equal((i + n) * 2 - n * 2, i * 2, facts));
  EXPECT_FALSE(can_prove(i < n, facts));
  const auto guard = facts.assume(likely(i < n));
  EXPECT_TRUE(can_prove(i < n, facts));
}

// Elements may be as large as their type, so that a sum of two may wrap where a difference does
// not.
TEST(Simplify, ElementsDoNotChangeSidesOfComparisons) {
  const Buffer a = decl_buffer({4}, Int(64), {.name = "a"});
  const Expr x = make_load(a, {make_int(Int(32), 0)}), y = make_load(a, {make_int(Int(32), 1)});
  for (const Expr& e : {3 - y < x, y + 3 < x, x < 3 - y, x < y + 3}) {
    const Expr simple = simplify(e);
    EXPECT_TRUE(structural_equal(simple, e)) << simple;
  }
  const Var i("i", Int(64)), j("j", Int(64));
  EXPECT_TRUE(structural_equal(simplify(3 - j < i), make_int(Int(64), 3) < i + j));
}

// With elements at the ends of their type, every form must wrap as the written one does.
TEST(Simplify, ElementsWrapAsWritten) {
  const Buffer a = decl_buffer({4}, Int(32), {.name = "a"});
  const Expr x = make_load(a, {Expr(0)}), y = make_load(a, {Expr(1)}), z = make_load(a, {Expr(2)});
  constexpr std::int64_t kMin = std::numeric_limits<std::int32_t>::min();
  const std::int64_t values[] = {kMin, -3, 0, 5, -kMin - 1};
  for (const Expr& e :
       {max(x, y) - x, max(x, y) - y, x - max(x, y), y - max(x, y), min(x, y) - x, min(x, y) - y,
        x - min(x, y), y - min(x, y), max(x + y, z) - x, x - min(z, x + y), max(x + y, x + z),
        min(x - y, x - z), max(x, y) + 3, min(x + 3, y + 5)}) {
    const Expr simple = simplify(e);
    for (const std::int64_t u : values)
      for (const std::int64_t v : values)
        for (const std::int64_t w : values) {
          const auto value_of = [&](const Expr& form) {
            return constant_int(simplify(rewrite(form, [&](const Load& load, const Expr&) {
              const std::int64_t which = *constant_int(load.indices[0]);
              return std::optional(make_int(Int(32), which == 0 ? u : which == 1 ? v : w));
            })));
          };
          ASSERT_EQ(value_of(simple), value_of(e))
              << e << " became " << simple << " at " << u << ", " << v << ", " << w;
        }
  }
}

TEST(Simplify, ChoicesInConditionsOfChoicesCostInProportion) {
  // Nine ramps, one in the other: three times as many nodes with each, and no more time than that.
  const Var f("f", Float(32));
  Expr e = f;
  for (int n = 0; n < 9; ++n) e = make_select(e > 0.0f, e, e * 0.5f);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(structural_equal(simplify(e), simplify(simplify(e))));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(Simplify, ConditionsInConditionsAreNotVisitedAgainOnEachLevel) {
  const Var u("u"), v("v"), w("w");
  Expr e = u;
  for (int n = 0; n < 14; ++n) e = make_select(e + v > n && w < 100 - n, v + n, w - n);
  const auto start = std::chrono::steady_clock::now();
  simplify(e);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

// ---- statements ---------------------------------------------------------------------------------

class SimplifyStmt : public testing::Test {
 protected:
  Stmt loop(const Var& var, Expr min, Expr extent, Stmt body) {
    return make_stmt(For{var, std::move(min), std::move(extent), ForKind::Serial, std::move(body)});
  }
  Stmt guarded(Expr condition, Stmt body) {
    return make_stmt(If{std::move(condition), std::move(body), {}});
  }
  Stmt store(Expr value, Expr index) { return make_store(b, std::move(value), {std::move(index)}); }
  Stmt store_one(Expr index) { return store(1.0f, std::move(index)); }
  Expr load(Expr index) { return b({std::move(index)}); }

  void expect(const Stmt& given, const Stmt& simple) {
    Facts facts;
    const Stmt result = simplify_stmt(given, facts);
    EXPECT_TRUE(structural_equal(result, simple)) << print_stmt(given) << "\nbecame\n"
                                                  << print_stmt(result);
  }
  void expect_unchanged(const Stmt& given) {
    Facts facts;
    EXPECT_TRUE(simplify_stmt(given, facts).same_as(given)) << print_stmt(given);
  }

  Var i = Var("i"), j = Var("j"), x = Var("x"), n = Var::size("n");
  Buffer b = decl_buffer({1024}, Float(32), {.name = "B"});
};

TEST_F(SimplifyStmt, GuardThatTheLoopSaysGoes) {
  expect(loop(i, 0, n, guarded(i < n, store_one(i))), loop(i, 0, n, store_one(i)));
  expect(loop(i, 0, n, guarded(likely(i < n), store_one(i))), loop(i, 0, n, store_one(i)));
  expect(loop(i, 0, 8, guarded(i * 4 + 3 < 32, store_one(i))), loop(i, 0, 8, store_one(i)));
}

TEST_F(SimplifyStmt, WhatAGuardGaveIsForgottenBehindIt) {
  // One expression, under the condition and on both sides of it.
  const Stmt clamped = store_one(max(x, 1));
  expect(make_seq({clamped, guarded(Expr(1) <= x, clamped), clamped}),
         make_seq({clamped, guarded(Expr(1) <= x, store_one(x)), clamped}));
}

TEST_F(SimplifyStmt, AVariableThatIsBoundAgainIsAnother) {
  // One loop variable, one expression, two ranges.
  const Stmt clamped = store_one(max(i, 1));
  expect(
      make_seq({loop(i, 1, 8, clamped), loop(i, 0, 8, clamped), loop(i, 1, 8, clamped)}),
      make_seq({loop(i, 1, 8, store_one(i)), loop(i, 0, 8, clamped), loop(i, 1, 8, store_one(i))}));
}

TEST_F(SimplifyStmt, GuardThatItDoesNotSayStays) {
  expect_unchanged(loop(i, 0, n, guarded(likely(i < n - 1), store_one(i))));
  expect_unchanged(loop(i, 0, 8, guarded(i < 7, store_one(i))));
}

TEST_F(SimplifyStmt, SymbolicGuardOfAThreadStays) {
  const IterVar thread(std::nullopt, Var("threadIdx.x"), IterKind::ThreadIndex,
                       ThreadTag::parse("threadIdx.x"));
  auto launch = [&](Expr extent, Stmt body) {
    return make_stmt(Attr{AttrKind::ThreadExtent, thread, "", std::move(extent), std::move(body)});
  };
  expect_unchanged(launch(n, guarded(thread.var() < n, store_one(thread.var()))));
  expect(launch(32, guarded(thread.var() < 32, store_one(thread.var()))),
         launch(32, store_one(thread.var())));
  expect(launch(1, store_one(thread.var())), launch(1, store_one(0)));
}

TEST_F(SimplifyStmt, RepeatedGuardGoes) {
  const Expr guard = i * 8 + j < n;
  expect(guarded(likely(guard), guarded(guard, store_one(i))),
         guarded(likely(guard), store_one(i)));
}

TEST_F(SimplifyStmt, ElseBranchKnowsTheNegation) {
  auto branch = [&](Stmt a, Stmt c) { return make_stmt(If{x < n, std::move(a), std::move(c)}); };
  expect(branch(store_one(0), guarded(n <= x, store_one(1))), branch(store_one(0), store_one(1)));
  expect(branch(store_one(0), guarded(x < n, store_one(1))), branch(store_one(0), make_nop()));
}

TEST_F(SimplifyStmt, DecidedBranchTakesThePlace) {
  expect(make_stmt(If{n >= 0, store_one(0), store_one(1)}), store_one(0));
  expect(make_stmt(If{n < 0, store_one(0), store_one(1)}), store_one(1));
  expect(guarded(n < 0, store_one(0)), make_nop());
}

TEST_F(SimplifyStmt, FactsEndWithTheirBranch) {
  const Stmt after = guarded(x < n, store_one(1));
  expect_unchanged(make_seq({guarded(x < n, store_one(0)), after}));
}

TEST_F(SimplifyStmt, ConditionOnMemoryIsNotRemembered) {
  const Expr guard = make_binary(BinaryOp::Lt, load(0), make_float(Float(32), 5));
  expect_unchanged(guarded(guard, make_seq({store(7.0f, 0), guarded(guard, store_one(1))})));
  Buffer whole = decl_buffer({4}, Int(32), {.name = "C"});
  const Expr small = whole({0}) < 5;
  const Stmt refill = make_store(whole, 9, {0});
  expect_unchanged(guarded(small, make_seq({refill, guarded(small, store_one(1))})));
}

TEST_F(SimplifyStmt, IntegerLetIsInlined) {
  auto let = [&](Expr value, Stmt body) {
    return make_stmt(Let{i, std::move(value), std::move(body)});
  };
  expect(let(x * 8, store_one(i + x)), store_one(x * 9));
  expect(let(3, store_one(i + x)), store_one(x + 3));
}

TEST_F(SimplifyStmt, LetOfALoadStays) {
  const Var v("v", Float(32));
  expect_unchanged(make_stmt(Let{v, load(0), store(v + v, 1)}));
}

TEST_F(SimplifyStmt, LoopOfOneIterationStaysWithoutItsVariable) {
  expect(loop(i, 2, 1, store_one(i + 3)), loop(i, 2, 1, store_one(5)));
}

TEST_F(SimplifyStmt, VariableOfALoopMayBeUsedByAnother) {
  expect(make_seq({loop(i, 2, 1, store_one(i)), loop(i, 0, 8, guarded(i < 8, store_one(i)))}),
         make_seq({loop(i, 2, 1, store_one(2)), loop(i, 0, 8, store_one(i))}));
}

TEST_F(SimplifyStmt, StoreOfWhatIsThereGoes) {
  expect(loop(i, 0, 8, store(load(i * 2 + i), i * 3)), loop(i, 0, 8, make_nop()));
  expect_unchanged(loop(i, 0, 8, store(load(i + 1), i)));
}

TEST_F(SimplifyStmt, AssertionHoldsInItsBody) {
  auto asserted = [&](Stmt body) {
    return make_stmt(Assert{x < n, "x is too great", std::move(body)});
  };
  expect(asserted(guarded(x < n, store_one(x))), asserted(store_one(x)));
}

// ---- values -------------------------------------------------------------------------------------

// Simplification keeps values: random expressions, and the rows that the reference gets wrong, at
// every point of small ranges.

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

Expr lane_of(const Expr& e, int lane) {
  if (const Ramp* n = e.as<Ramp>()) return n->base + n->stride * lane;
  if (const Broadcast* n = e.as<Broadcast>()) return n->value;
  const Binary& n = *e.as<Binary>();
  return make_binary(n.op, lane_of(n.a, lane), lane_of(n.b, lane));
}

/// The base is 4*x or 6*x with an offset. From x = 9 on, all lanes of descending ramps are at least
/// 0.
TEST(SimplifyValues, EachLaneOfADividedRampKeepsItsValue) {
  const Var x("x");
  constexpr int kLanes = 3, kValues = 2;
  for (const int first : {0, 9}) {
    Facts facts;
    facts.bind(x, Range::from_min_extent(first, kValues));
    for (const int scale : {4, 6})
      for (int offset = -3; offset <= 3; ++offset)
        for (int stride = -9; stride <= 9; ++stride)
          for (int divisor = 1; divisor <= 8; ++divisor)
            for (const BinaryOp op :
                 {BinaryOp::TruncDiv, BinaryOp::TruncMod, BinaryOp::FloorDiv, BinaryOp::FloorMod}) {
              const Expr e = make_binary(op, make_ramp(x * scale + offset, stride, kLanes),
                                         make_broadcast(Expr(divisor), kLanes));
              const Expr simple = simplify(e, facts);
              for (int lane = 0; lane < kLanes; ++lane)
                for (std::int64_t n = first; n < first + kValues; ++n) {
                  const auto at = [&](const Var&) { return n; };
                  ASSERT_EQ(evaluate_int(lane_of(simple, lane), at),
                            evaluate_int(lane_of(e, lane), at))
                      << to_text(e) << " is not " << to_text(simple) << " in lane " << lane
                      << " at " << n;
                }
            }
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

// ---- data ---------------------------------------------------------------------------------------

// Simplification of data keeps values: arithmetic of elements wraps modulo its type, whatever the
// width, and floats have NaN, infinities and a negative zero. Random expressions of all types, at
// the ends of their types.

// ---- an evaluator of its own --------------------------------------------------------------------

/// An integer by its bit pattern in int64, sign- or zero-extended; or a float.
struct Value {
  std::int64_t i = 0;
  double f = 0;
};
using Result = std::optional<Value>;

/// The elements that loads read, and the values of variables.
struct Point {
  std::vector<std::pair<const void*, Value>> elements;
  std::vector<std::pair<const ExprNode*, Value>> vars;
};

__extension__ typedef __int128 Wide;

Wide number_of(std::int64_t bits, DataType type) {
  if (type.is_uint() && type.bits == 64) return static_cast<std::uint64_t>(bits);
  return bits;
}
std::int64_t wrapped(Wide value, DataType type) {
  if (type.bits == 64) return static_cast<std::int64_t>(value);
  const auto mask = (std::uint64_t{1} << type.bits) - 1;
  std::uint64_t bits = static_cast<std::uint64_t>(value) & mask;
  if (type.is_int() && bits >> (type.bits - 1) != 0) bits |= ~mask;
  return static_cast<std::int64_t>(bits);
}
double rounded(double value, DataType type) {
  return type.bits == 32 ? static_cast<double>(static_cast<float>(value)) : value;
}

class Evaluation {
 public:
  explicit Evaluation(const Point& at) : at_(at) {}

  Result operator()(const Expr& e) {
    return match(
        e.node().value, [](const IntImm& n) -> Result { return Value{.i = n.value}; },
        [](const FloatImm& n) -> Result { return Value{.f = n.value}; },
        [](const StringImm&) -> Result { return std::nullopt; },
        [&](const VarNode&) -> Result {
          for (const auto& [var, value] : at_.vars)
            if (var == &e.node()) return value;
          return std::nullopt;
        },
        [&](const Load& n) -> Result {
          for (const auto& [buffer, value] : at_.elements)
            if (buffer == n.buffer.get()) return value;
          return std::nullopt;
        },
        [&](const Cast& n) -> Result {
          const Result value = (*this)(n.value);
          return value ? Result(converted(*value, n.value.dtype(), e.dtype())) : std::nullopt;
        },
        [&](const Binary& n) { return binary(n, e.dtype()); },
        [&](const Not& n) -> Result {
          const Result value = (*this)(n.a);
          return value ? Result(Value{.i = value->i == 0}) : std::nullopt;
        },
        [&](const Select& n) { return choice(n.condition, n.if_true, n.if_false); },
        [&](const Call& n) -> Result {
          if (n.is(Intrin::if_then_else)) return choice(n.args[0], n.args[1], n.args[2]);
          if (n.is(Intrin::likely)) return (*this)(n.args[0]);
          return bits(n, e.dtype());
        },
        [&](const LetExpr& n) -> Result {
          const Result value = (*this)(n.value);
          if (!value) return std::nullopt;
          at_.vars.emplace_back(&n.var.node(), *value);
          const Result result = (*this)(n.body);
          at_.vars.pop_back();
          return result;
        },
        [](const auto&) -> Result { return std::nullopt; });
  }

 private:
  Result choice(const Expr& condition, const Expr& if_true, const Expr& if_false) {
    const Result c = (*this)(condition);
    return c ? (*this)(c->i != 0 ? if_true : if_false) : std::nullopt;
  }

  static Value converted(const Value& value, DataType from, DataType to) {
    if (to.is_floating()) {
      if (!from.is_integral()) return {.f = rounded(value.f, to)};
      const Wide number = number_of(value.i, from);
      return {.f = to.bits == 32 ? static_cast<double>(static_cast<float>(number))
                                 : static_cast<double>(number)};
    }
    if (to.is_bool()) return {.i = from.is_floating() ? value.f != 0 : value.i != 0};
    if (from.is_integral()) return {.i = wrapped(number_of(value.i, from), to)};
    // Saturates.
    if (std::isnan(value.f)) return {.i = 0};
    const auto bits = static_cast<unsigned>(to.bits);
    const Wide most = (Wide{1} << (to.is_int() ? bits - 1 : bits)) - 1;
    const Wide least = to.is_int() ? -most - 1 : Wide{0};
    const double whole = std::trunc(value.f);
    if (whole >= 0x1p100) return {.i = wrapped(most, to)};
    if (whole <= -0x1p100) return {.i = wrapped(least, to)};
    const Wide exact = static_cast<Wide>(whole);
    return {.i = wrapped(exact < least ? least : exact > most ? most : exact, to)};
  }

  Result binary(const Binary& n, DataType type) {
    const Result a = (*this)(n.a);
    if (!a) return std::nullopt;
    if (n.op == BinaryOp::And && a->i == 0) return Value{.i = 0};
    if (n.op == BinaryOp::Or && a->i != 0) return Value{.i = 1};
    const Result b = (*this)(n.b);
    if (!b) return std::nullopt;
    if (n.op == BinaryOp::And || n.op == BinaryOp::Or) return Value{.i = b->i != 0};
    const DataType operands = n.a.dtype();
    if (operands.is_floating()) return of_floats(n.op, a->f, b->f, operands);
    return of_integers(n.op, number_of(a->i, operands), number_of(b->i, operands), type);
  }

  static Result of_floats(BinaryOp op, double a, double b, DataType type) {
    const auto number = [&](double value) { return Value{.f = rounded(value, type)}; };
    switch (op) {
      case BinaryOp::Add:
        return number(a + b);
      case BinaryOp::Sub:
        return number(a - b);
      case BinaryOp::Mul:
        return number(a * b);
      case BinaryOp::Div:
        return number(a / b);
      case BinaryOp::Min:
        return number(std::isnan(a) || std::isnan(b) ? NAN : std::min(a, b));
      case BinaryOp::Max:
        return number(std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b));
      default:
        return compared(op, a, b);
    }
  }

  template <class T>
  static Result compared(BinaryOp op, T a, T b) {
    switch (op) {
      case BinaryOp::Eq:
        return Value{.i = a == b};
      case BinaryOp::Ne:
        return Value{.i = a != b};
      case BinaryOp::Lt:
        return Value{.i = a < b};
      case BinaryOp::Le:
        return Value{.i = a <= b};
      case BinaryOp::Gt:
        return Value{.i = a > b};
      case BinaryOp::Ge:
        return Value{.i = a >= b};
      default:
        return std::nullopt;
    }
  }

  static Result of_integers(BinaryOp op, Wide a, Wide b, DataType type) {
    const auto number = [&](Wide value) { return Value{.i = wrapped(value, type)}; };
    switch (op) {
      case BinaryOp::Add:
        return number(a + b);
      case BinaryOp::Sub:
        return number(a - b);
      case BinaryOp::Mul:
        return number(
            static_cast<Wide>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b)));
      case BinaryOp::Min:
        return number(std::min(a, b));
      case BinaryOp::Max:
        return number(std::max(a, b));
      case BinaryOp::TruncDiv:
      case BinaryOp::TruncMod:
      case BinaryOp::FloorDiv:
      case BinaryOp::FloorMod: {
        if (b == 0) return std::nullopt;
        Wide quotient = a / b, rest = a % b;
        const bool is_floor = op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod;
        if (is_floor && rest != 0 && (rest < 0) != (b < 0)) quotient -= 1, rest += b;
        const bool is_quotient = op == BinaryOp::TruncDiv || op == BinaryOp::FloorDiv;
        return number(is_quotient ? quotient : rest);
      }
      default:
        return compared(op, a, b);
    }
  }

  Result bits(const Call& n, DataType type) {
    const Result a = (*this)(n.args[0]), b = (*this)(n.args[1]);
    if (!a || !b) return std::nullopt;
    const Wide x = number_of(a->i, type);
    const auto amount = static_cast<unsigned>(b->i) % type.bits;
    if (n.is(Intrin::bitwise_and)) return Value{.i = a->i & b->i};
    if (n.is(Intrin::bitwise_or)) return Value{.i = a->i | b->i};
    if (n.is(Intrin::bitwise_xor)) return Value{.i = a->i ^ b->i};
    if (n.is(Intrin::shift_right)) return Value{.i = wrapped(x >> amount, type)};
    if (n.is(Intrin::shift_left))
      return Value{
          .i = wrapped(static_cast<Wide>(static_cast<std::uint64_t>(a->i) << amount), type)};
    return std::nullopt;
  }

  Point at_;
};

bool is_same(const Value& a, const Value& b, DataType type) {
  if (!type.is_floating()) return a.i == b.i;
  if (std::isnan(a.f) || std::isnan(b.f)) return std::isnan(a.f) && std::isnan(b.f);
  // A maximum may give either zero.
  return a.f == b.f;
}

// ---- random expressions -------------------------------------------------------------------------

const DataType kIntegers[] = {Int(8),  UInt(8),  Int(16), UInt(16),
                              Int(32), UInt(32), Int(64), UInt(64)};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {
    for (const DataType type : {Int(8), UInt(8), Int(16), UInt(16), Int(32), UInt(32), Int(64),
                                UInt(64), Float(32), Float(64)})
      for (const char* name : {"A", "B", "C"})
        buffers_.push_back(decl_buffer({4}, type, {.name = name}));
  }

  const Facts& facts() const { return facts_; }
  std::size_t pick(std::size_t n) { return random_() % n; }

  Expr leaf(DataType type) {
    if (pick(4) == 0) return constant(type);
    if (!lets_.empty() && pick(3) == 0) {
      const Var& var = lets_[pick(lets_.size())];
      if (var.dtype() == type) return var;
    }
    return element(type);
  }

  Expr element(DataType type) {
    std::vector<Buffer> fitting;
    for (const Buffer& b : buffers_)
      if (b->dtype == type) fitting.push_back(b);
    return make_load(fitting[pick(pick(2) == 0 ? 1 : 3)], {make_int(Int(32), 0)});
  }

  Expr constant(DataType type) {
    if (type.is_floating()) {
      const double values[] = {0, 1, -1, 0.5, 2, 3, INFINITY, -INFINITY, NAN, 100};
      return make_float(type, values[pick(std::size(values))]);
    }
    return make_int(type, edge(type));
  }

  std::int64_t edge(DataType type) {
    const std::int64_t small = static_cast<std::int64_t>(pick(9)) - 3;
    switch (pick(6)) {
      case 0:
        return wrapped(Wide{1} << pick(type.bits), type);
      case 1: {
        // Near the ends.
        const Wide most = (Wide{1} << (type.is_int() ? type.bits - 1 : type.bits)) - 1;
        return wrapped(most + small, type);
      }
      case 2:
        return wrapped(static_cast<Wide>(random_()) << (pick(2) * 31) | random_(), type);
      default:
        return wrapped(small, type);
    }
  }

  Expr number(DataType type, int depth) {
    if (depth <= 0 || pick(8) == 0) return leaf(type);
    const auto a = [&] { return number(type, depth - 1); };
    if (type.is_floating()) {
      constexpr BinaryOp kOps[] = {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul,
                                   BinaryOp::Div, BinaryOp::Min, BinaryOp::Max};
      if (pick(4) == 0) return chosen(type, depth);
      if (pick(8) == 0) return cast(type, number(kIntegers[pick(8)], depth - 1));
      return make_binary(kOps[pick(6)], a(), a());
    }
    // Arithmetic of constants alone is that of positions.
    const auto data = [&] {
      const Expr e = a();
      return contains<Load>(e) ? e : element(type);
    };
    switch (pick(16)) {
      case 0:
      case 1:
        return make_binary(BinaryOp::Add, data(), a());
      case 2:
        return make_binary(BinaryOp::Sub, data(), a());
      case 3:
        return make_binary(BinaryOp::Add, data(), constant(type));
      case 4:
      case 5:
        return make_binary(BinaryOp::Mul, data(), constant(type));
      case 6:
        return make_binary(BinaryOp::Mul, data(), a());
      case 7:
      case 8: {
        constexpr BinaryOp kOps[] = {BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::TruncDiv,
                                     BinaryOp::TruncMod};
        Expr b = pick(4) == 0 ? a() : constant(type);
        if (is_zero(b)) b = make_int(type, 4);
        return make_binary(kOps[pick(4)], data(), b);
      }
      case 9:
        return make_binary(BinaryOp::Min, data(), a());
      case 10:
        return make_binary(BinaryOp::Max, data(), a());
      case 11:
        return chosen(type, depth);
      case 12: {
        const DataType from = pick(6) == 0 ? Float(32) : kIntegers[pick(8)];
        const Expr value = number(from, depth - 1);
        return value.dtype() == type ? value : make_cast(type, value);
      }
      case 13: {
        constexpr Intrin kOps[] = {Intrin::bitwise_and, Intrin::bitwise_or, Intrin::shift_left,
                                   Intrin::shift_right};
        const std::size_t op = pick(4);
        const Expr b =
            op < 2
                ? a()
                : make_int(type, wrapped(static_cast<std::int64_t>(pick(2 * type.bits)) - 4, type));
        return make_call(type, kOps[op], {data(), b});
      }
      case 14: {
        const DataType of_value = pick(2) == 0 ? type : kIntegers[pick(8)];
        const Var var("v" + std::to_string(++count_), of_value);
        const Expr value = number(of_value, depth - 1);
        lets_.push_back(var);
        const Expr body = a();
        lets_.pop_back();
        return make_let(var, value, body);
      }
      default:
        return make_binary(BinaryOp::Sub, constant(type), data());
    }
  }

  Expr chosen(DataType type, int depth) {
    const Expr c = condition(depth - 1), x = number(type, depth - 1), y = number(type, depth - 1);
    if (pick(2) == 0) return make_select(c, x, y);
    return make_call(type, Intrin::if_then_else, {c, x, y});
  }

  Expr condition(int depth) {
    constexpr BinaryOp kComparisons[] = {BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt,
                                         BinaryOp::Ge, BinaryOp::Eq, BinaryOp::Ne};
    if (depth > 0 && pick(2) == 0) {
      if (pick(3) == 0) return make_not(condition(depth - 1));
      const BinaryOp op = pick(2) == 0 ? BinaryOp::And : BinaryOp::Or;
      return make_binary(op, condition(depth - 1), condition(depth - 1));
    }
    const DataType type = pick(4) == 0 ? Float(32) : kIntegers[pick(8)];
    const Expr b = pick(2) == 0 ? constant(type) : number(type, depth);
    Expr a = number(type, depth);
    // Positions are taken not to overflow in guards.
    if (!wraps(a)) a = make_binary(BinaryOp::Add, a, element(type));
    return make_binary(kComparisons[pick(6)], a, b);
  }

  Point point() {
    Point at;
    for (const Buffer& b : buffers_) {
      constexpr double kFloats[] = {0,    -0.0, 1,     -1,       0.5,       2,   3,
                                    -2.5, 1e30, -1e30, INFINITY, -INFINITY, NAN, 16777217};
      Value value;
      if (b->dtype.is_floating()) {
        value.f = rounded(kFloats[pick(std::size(kFloats))], b->dtype);
      } else {
        value.i = edge(b->dtype);
      }
      at.elements.emplace_back(b.get(), value);
    }
    return at;
  }

 private:
  std::mt19937_64 random_;
  std::vector<Buffer> buffers_;
  std::vector<Var> lets_;
  int count_ = 0;
  Facts facts_;
};

/// More rounds, for a longer search.
int rounds(int usual) {
  const char* factor = std::getenv("TENON_TEST_ROUNDS");
  return factor ? usual * std::atoi(factor) : usual;
}

std::string text_of(const Value& value, DataType type) {
  return type.is_floating() ? std::to_string(value.f) : std::to_string(value.i);
}

/// Every form of `e` has its value, at random points.
void expect_same_values(const Expr& e, const Facts& facts, Generator& random) {
  if (!wraps(e)) return;
  const Expr forms[] = {simplify(e, facts), rewrite_simplify(e, facts),
                        canonical_simplify(e, facts)};
  for (int n = 0; n < 24; ++n) {
    const Point at = random.point();
    const Result right = Evaluation(at)(e);
    if (!right) continue;
    for (const Expr& form : forms) {
      const Result got = Evaluation(at)(form);
      ASSERT_TRUE(got && is_same(*got, *right, e.dtype()))
          << print_expr(e) << "\nbecame " << print_expr(form) << "\nwhich is "
          << (got ? text_of(*got, e.dtype()) : "nothing") << ", not " << text_of(*right, e.dtype())
          << "\nA, B, C of " << [&] {
               std::string text;
               for (const auto& [buffer, value] : at.elements) {
                 const auto& b = *static_cast<const BufferNode*>(buffer);
                 text += b.name + ":" + b.dtype.str() + " = " + text_of(value, b.dtype) + "  ";
               }
               return text;
             }();
    }
  }
}

TEST(DataValues, IntegersOfEveryTypeWrapAsWritten) {
  unsigned seed = 100;
  for (const DataType type : kIntegers) {
    Generator random(seed++);
    for (int n = 0; n < rounds(1500) && !testing::Test::HasFatalFailure(); ++n)
      expect_same_values(random.number(type, 1 + n % 4), random.facts(), random);
  }
}

TEST(DataValues, ConditionsOfElementsAreKept) {
  Generator random(7);
  for (int n = 0; n < rounds(6000) && !testing::Test::HasFatalFailure(); ++n)
    expect_same_values(random.condition(1 + n % 4), random.facts(), random);
}

TEST(DataValues, FloatsKeepNaNAndInfinities) {
  for (const DataType type : {Float(32), Float(64)}) {
    Generator random(8);
    for (int n = 0; n < rounds(3000) && !testing::Test::HasFatalFailure(); ++n)
      expect_same_values(random.number(type, 1 + n % 4), random.facts(), random);
  }
}

TEST(DataValues, BoundsAndRemaindersContainWhatWraps) {
  unsigned seed = 200;
  for (const DataType type : kIntegers) {
    Generator random(seed++);
    for (int n = 0; n < rounds(1000); ++n) {
      const Expr e = random.number(type, 1 + n % 4);
      if (!wraps(e)) continue;
      const ConstBound bound = const_bound(e, random.facts());
      const ModularSet set = modular_set(e, random.facts());
      for (int k = 0; k < 16; ++k) {
        const Result value = Evaluation(random.point())(e);
        if (!value) continue;
        const Wide number = number_of(value->i, type);
        ASSERT_TRUE((!bound.min || *bound.min <= number) && (!bound.max || number <= *bound.max))
            << text_of(*value, type) << " of " << print_expr(e);
        const Wide rest = set.coeff == 0 ? number : (number % set.coeff + set.coeff) % set.coeff;
        ASSERT_TRUE(rest == set.base) << text_of(*value, type) << " of " << print_expr(e)
                                      << " is not " << set.coeff << "*k + " << set.base;
      }
    }
  }
}

/// Under a condition, values are kept where it holds.
TEST(DataValues, FactsOfElementsAndLetsAreOnlyThoseThatHold) {
  Generator random(9);
  for (int n = 0; n < rounds(4000) && !testing::Test::HasFatalFailure(); ++n) {
    const DataType type = kIntegers[random.pick(8)];
    const Expr given = random.condition(1 + n % 3), e = random.number(type, 1 + n % 3);
    const Expr whole = make_call(type, Intrin::if_then_else, {given, e, make_int(type, 0)});
    expect_same_values(whole, random.facts(), random);
  }
}

// ---- memory -------------------------------------------------------------------------------------

// Memoized results must equal computed ones: runs the same simplifications with a memory and
// without, under facts that begin and end.

std::string text_of(const Expr& e, const Facts& facts) { return print_expr(simplify(e, facts)); }

TEST(SimplifierMemory, KnowsFactsApart) {
  const SimplifierMemory memory;
  const Var i("i");
  const Expr e = floordiv(i, 8) * 8;
  Facts below, above;
  below.bind(i, Range(0, 8));
  above.bind(i, Range(0, 16));
  EXPECT_EQ(text_of(e, below), "0");
  EXPECT_EQ(text_of(e, above), "(floordiv(i, 8)*8)");
  EXPECT_EQ(text_of(e, below), "0");
}

TEST(SimplifierMemory, ForgetsWhatWasAssumed) {
  const SimplifierMemory memory;
  const Var i("i"), n("n");
  Facts facts;
  facts.bind(i, Range(0, 64));
  const Expr guard = i < n, bounded = i < 8;
  {
    const auto scope = facts.assume(i < n), numeric = facts.assume(i < 4);
    EXPECT_EQ(text_of(guard, facts), "True");
    EXPECT_EQ(text_of(bounded, facts), "True");
  }
  EXPECT_EQ(text_of(guard, facts), "(i < n)");
  EXPECT_EQ(text_of(bounded, facts), "(i < 8)");
}

TEST(SimplifierMemory, FollowsTheValuesOfVariables) {
  const SimplifierMemory memory;
  const Var i("i"), k("k");
  Facts facts;
  facts.bind(k, Range(0, 4));
  facts.bind(i, k + 4);
  const Expr e = i < 8;
  EXPECT_EQ(text_of(e, facts), "True");
  // Only the range of `k` changes; `i` is still bound to k + 4.
  facts.bind(k, Range(0, 8), true);
  EXPECT_EQ(text_of(e, facts), "(k < 4)");
}

TEST(SimplifierMemory, KnowsEqualOperandsOfAMinimumByTheirHandles) {
  const SimplifierMemory memory;
  const Buffer a = decl_buffer({8}, Float(32), {.name = "A"});
  const Var i("i");
  const Expr load = a({i});
  EXPECT_EQ(text_of(make_binary(BinaryOp::Min, load + 0.5f, a({i}) + 0.5f), Facts()),
            text_of(make_binary(BinaryOp::Min, load + 0.5f, a({i}) + 0.5f), Facts()));
  const Expr shared = load * 2.0f;
  const Expr of_one = make_binary(BinaryOp::Min, shared, shared);
  const Expr of_two = make_binary(BinaryOp::Min, load * 2.0f, a({i}) * 2.0f);
  const std::string one = text_of(of_one, Facts()), two = text_of(of_two, Facts());
  EXPECT_EQ(text_of(of_one, Facts()), one);
  EXPECT_EQ(text_of(of_two, Facts()), two);
  EXPECT_NE(one, two);
}

TEST(SimplifierMemory, AnEqualLetDefinesItsOwnVariable) {
  const SimplifierMemory memory;
  const Var i("i");
  const auto let = [&] {
    const Var v("v", Float(32));
    return make_let(v, cast(Float(32), i + 1 - 1), Expr(v) * v);
  };
  const Expr first = let(), second = let();
  const Expr a = simplify(first, Facts()), b = simplify(second, Facts());
  ASSERT_TRUE(a.as<LetExpr>() && b.as<LetExpr>());
  EXPECT_FALSE(a.as<LetExpr>()->var.same_as(b.as<LetExpr>()->var));
}

/// Expressions over a few variables, built of one another, so that parts are shared.
class Programs {
 public:
  explicit Programs(std::uint32_t seed) : random_(seed) {
    for (int n = 0; n < kVariables; ++n) {
      vars_.emplace_back("v" + std::to_string(n));
      terms_.push_back(vars_.back());
    }
  }

  /// Texts of simplified expressions, under facts that change in between.
  std::vector<std::string> run(int steps) {
    std::vector<std::string> texts;
    for (int step = 0; step < steps; ++step) {
      change_facts();
      const Expr term = make_term(), condition = make_condition();
      texts.push_back(print_expr(simplify(term, facts_)));
      texts.push_back(print_expr(simplify(condition, facts_)));
      texts.push_back(print_expr(simplify(any(terms_), facts_)));
    }
    scopes_.clear();
    return texts;
  }

 private:
  static constexpr int kVariables = 6, kMaxTerms = 60;

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  const Expr& any(const std::vector<Expr>& list) { return list[random_() % list.size()]; }

  void change_facts() {
    switch (below(5)) {
      case 0:
        facts_.bind(vars_[below(kVariables)], Range::from_min_extent(below(4), 2 + below(20)),
                    true);
        break;
      case 1:
        if (scopes_.size() < 4) scopes_.push_back(facts_.assume(make_condition()));
        break;
      case 2:
        if (!scopes_.empty()) scopes_.pop_back();
        break;
      default:
        break;
    }
  }

  Expr make_term() {
    const Expr& a = any(terms_);
    const Expr& b = any(terms_);
    const int c = 1 + below(9);
    Expr result = [&]() -> Expr {
      switch (below(8)) {
        case 0:
          return a + b;
        case 1:
          return a - b;
        case 2:
          return a * c;
        case 3:
          return floordiv(a, c);
        case 4:
          return floormod(a, c);
        case 5:
          return min(a, b);
        case 6:
          return max(a, c);
        default:
          return select(make_condition(), a, b);
      }
    }();
    // A copy of other nodes now and then.
    if (below(3) == 0) result = result + 0 * 1;
    if (terms_.size() < kMaxTerms) {
      terms_.push_back(result);
    } else {
      terms_[static_cast<std::size_t>(kVariables + below(kMaxTerms - kVariables))] = result;
    }
    return result;
  }

  Expr make_condition() {
    const Expr& a = any(terms_);
    const Expr& b = any(terms_);
    switch (below(4)) {
      case 0:
        return a < b;
      case 1:
        return a < 1 + below(30);
      case 2:
        return floormod(vars_[below(kVariables)], 4) == below(4);
      default:
        return a < 1 + below(30) && b >= below(5);
    }
  }

  std::mt19937 random_;
  std::vector<Var> vars_;
  std::vector<Expr> terms_;
  Facts facts_;
  std::vector<Facts::Scope> scopes_;
};

TEST(SimplifierMemory, GivesWhatSimplificationWithoutItGives) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const std::vector<std::string> without = Programs(seed).run(60);
    const SimplifierMemory memory;
    const std::vector<std::string> with = Programs(seed).run(60);
    ASSERT_EQ(with.size(), without.size());
    for (std::size_t n = 0; n < with.size(); ++n)
      ASSERT_EQ(with[n], without[n]) << "seed " << seed << ", expression " << n;
  }
}

// ---- deep expressions ---------------------------------------------------------------------------

// Expressions that are nested deeper than the stack of a thread is.

constexpr int kDepth = 200000;

TEST(DeepExpressions, ArePrintedSimplifiedAndFreed) {
  const Var x("x"), y("y");
  for (const bool is_left : {true, false}) {
    Expr sum = x;
    for (int n = 0; n < kDepth; ++n)
      sum = is_left ? make_binary(BinaryOp::Add, sum, y) : make_binary(BinaryOp::Add, y, sum);
    std::ostringstream text;
    text << sum;
    EXPECT_GT(text.str().size(), static_cast<std::size_t>(kDepth));
    EXPECT_TRUE(structural_equal(simplify(sum), simplify(x + y * kDepth)));
  }
}

// ---- wide constants -----------------------------------------------------------------------------

// Constants of uint64 from 2^63 on, which are kept as the bits of negative numbers.

TEST(WideConstants, AreAboveAllSmallerOnes) {
  const Var x("x", UInt(64));
  const std::uint64_t limit = (std::uint64_t{1} << 63) + 5;
  const Expr big = make_const(UInt(64), limit), small = make_const(UInt(64), 7);
  const std::vector<Expr> all = {
      max(x, big) < small,       min(x, big) < small,       small < min(x, big),
      small < max(x, big),       max(min(x, big), small),   min(max(x, small), big),
      max(min(x, small), big),   min(max(x, big), small),   (x < big) && (x < small),
      (x < big) || (x < small),  (big < x) && (x < small),  (small < x) && (x < big),
      (big <= x) || (x < small), x * big < small,           floordiv(x, big) < small,
      max(x * big, small),       (x == big) && (x < small), floormod(x, big) < small};
  for (const Expr& e : all) {
    const Expr simple = simplify(e);
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{7}, std::uint64_t{8},
                                      limit - 5, limit, limit + 1, ~std::uint64_t{0}}) {
      VarMap values;
      set(values, x, make_const(UInt(64), value));
      EXPECT_EQ(evaluate(substitute(simple, values)), evaluate(substitute(e, values)))
          << print_expr(e) << " becomes " << print_expr(simple) << ", at " << value;
    }
  }
}

TEST(LargeDivisors, KeepTheFactorOfAPositionThatAModulusWouldMakeLarge) {
  const Var i("i", Int(32));
  Facts facts;
  facts.bind(i, Range::from_min_extent(0, 16));
  for (const Expr& e : {floormod(375 - i * 6, 312732236), floormod(i * -6, 312732236),
                        floormod(1000 + i * -6, 2000000000)}) {
    const Expr simple = simplify(e, facts);
    for (int value = 0; value < 16; ++value) {
      VarMap values;
      set(values, i, make_int(Int(32), value));
      EXPECT_EQ(evaluate(substitute(simple, values)), evaluate(substitute(e, values)))
          << print_expr(e) << " becomes " << print_expr(simple) << ", at " << value;
    }
  }
}

TEST(LargeConstants, StayInADividendThatLeavesItsTypeWithoutThem) {
  const Var i("i", Int(32)), j("j", Int(32));
  const int first = 2147483634;
  Facts facts;
  facts.bind(i, Range::from_min_extent(first, 13));
  facts.bind(j, Range(0, 9));
  const Expr sum = (i - first) + j;
  for (const Expr& e : {floormod(sum, 2), floormod(sum, 19), floordiv(sum, 2), floordiv(sum, 19)}) {
    const Expr simple = simplify(e, facts);
    for (int x = 0; x < 13; ++x)
      for (int y = 0; y < 9; ++y) {
        VarMap values;
        set(values, i, make_int(Int(32), first + x));
        set(values, j, make_int(Int(32), y));
        EXPECT_EQ(evaluate(substitute(simple, values)), evaluate(substitute(e, values)))
            << print_expr(e) << " becomes " << print_expr(simple) << ", at " << x << ", " << y;
      }
  }
}

}  // namespace
}  // namespace tenon::arith
