// The rewriter and `simplify` against simplify.tsv.
#include "tenon/arith/simplify.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "tenon/tir/buffer.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"
#include "tests/tables/table.h"

namespace tenon::arith {
namespace {

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

TEST(Simplify, ConstantsThatLeaveTheTypeStayApart) {
  TableScope scope("x:any");
  const Expr nested = scope.parse("floordiv(floordiv(x, 65536), 65536)");
  EXPECT_EQ(to_text(rewrite_simplify(nested, scope.facts())),
            "floordiv(floordiv(x, 65536), 65536)");
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

}  // namespace
}  // namespace tenon::arith
