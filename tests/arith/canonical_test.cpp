// Canonical forms of sums.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "arith/canonicalizer.h"
#include "arith/normal_sum.h"
#include "tenon/arith/simplify.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/print.h"
#include "tests/tables/table.h"

namespace tenon::arith {
namespace {

// ---- forms --------------------------------------------------------------------------------------

using namespace tir;

constexpr std::size_t kInput = 3;
constexpr std::size_t kCanonical = 7;

/// Inputs whose canonical form is deliberately another one: floats keep NaN, infinities, -0.0 and
/// rounding, a division stays one unless the reciprocal is exact, and constants of half precision
/// are rounded to it.
const std::map<std::string, std::string>& deliberate() {
  static const std::map<std::string, std::string> texts = {
      {"(broadcast(f, 4)*broadcast(0f32, 4))", "broadcast((f*0f32), 4)"},
      {"(f*0f32)", "(f*0f32)"},
      {"(0f32*f)", "(0f32*f)"},
      {"(f - f)", "(f - f)"},
      {"((f + g) - g)", "((f + g) - g)"},
      {"((f + g) - f)", "((f + g) - f)"},
      {"(f - (f + g))", "(f - (f + g))"},
      {"(f - (g + f))", "(f - (g + f))"},
      {"(f / 3f32)", "(f / 3f32)"},
      {"(f / 10f32)", "(f / 10f32)"},
      {"(0f32 / f)", "(0f32 / f)"},
      {"(h / 3f16)", "(h / 3f16)"},
      {"(d / 3f64)", "(d / 3f64)"},
      {"(h*0f16)", "(h*0f16)"},
      {"!(f < g)", "!(f < g)"},
      {"((f*g) - (f*g))", "((f*g) - (f*g))"},
      {"((f*0f32) + g)", "((f*0f32) + g)"},
      {"(0.1f16*3f16)", "0.299805f16"},
      {"@tir.sqrt(((f*1f32) + 0f32), dtype=float32)", "@tir.sqrt((f + 0f32), dtype=float32)"},
      {"(f / 0.1f32)", "(f / 0.1f32)"},
      {"(f / 7f32)", "(f / 7f32)"},
      {"(f / 255f32)", "(f / 255f32)"},
      {"(f / 49f32)", "(f / 49f32)"},
      {"(f / 9f32)", "(f / 9f32)"},
      // -0.0 + 0.0 is 0.0.
      {"(f + 0f32)", "(f + 0f32)"},
      {"(0f32 + f)", "(0f32 + f)"},
      {"(broadcast(f, 4) + broadcast(0f32, 4))", "broadcast((f + 0f32), 4)"},
      {"@tir.exp((f + 0f32), dtype=float32)", "@tir.exp((f + 0f32), dtype=float32)"},
  };
  return texts;
}

/// Equal as trees, or as the texts that readers see (floats print with six digits).
bool agrees(const Expr& result, const std::string& expected, const TableScope& scope) {
  return to_text(result) == expected || structural_equal(result, scope.parse(expected));
}

TEST(Canonical, FormsOfTheTable) {
  for (const Row& row : read_table("simplify.tsv")) {
    if (row.cells[0] == "weak") continue;
    TableScope scope(row.cells[1], row.cells[2]);
    Expr result = canonical_simplify(scope.parse(row.cells[kInput]), scope.facts());
    auto other = deliberate().find(row.cells[kInput]);
    if (other != deliberate().end()) {
      EXPECT_EQ(to_text(result), other->second) << "line " << row.line;
    } else {
      EXPECT_TRUE(agrees(result, row.cells[kCanonical], scope))
          << "line " << row.line << ", " << row.cells[1] << " given " << row.cells[2]
          << "\n  input    " << row.cells[kInput] << "\n  expected " << row.cells[kCanonical]
          << "\n  got      " << to_text(result);
    }
  }
}

TEST(Canonical, WholeExpressionInFormIsTheSameHandle) {
  TableScope scope("x:any y:any");
  Expr e = scope.parse("(((x*8) + floordiv(y, 4)) + 3)");
  EXPECT_TRUE(canonical_simplify(e, scope.facts()).same_as(e));
}

TEST(Canonical, ScaleThatLeavesTheTypeIsNotComputed) {
  TableScope scope("x:any");
  for (const char* text :
       {"((x*65536)*65535)", "((x*1073741824) + (x*1073741824))", "(0 - (x*-2147483648))"}) {
    const Expr e = scope.parse(text);
    EXPECT_EQ(to_text(canonical_simplify(e, scope.facts())), text);
  }
}

/// The sum is i + 11. It is rearranged, so that a part of it leaves int32.
TEST(Canonical, AWiderCastIsNotDistributedOverAPartThatLeavesTheType) {
  const Var i("i");
  Facts facts;
  facts.bind(i, Range(0, 5));
  const Expr sum = 15 - (2147483641 - (i + 2147483637));
  const Expr wide = simplify(cast(Int(64), sum) * make_int(Int(64), 4), facts);
  for (std::int64_t at = 0; at < 5; ++at)
    EXPECT_EQ(evaluate_int(wide, [&](const Var&) { return at; }), (at + 11) * 4)
        << print_expr(wide);
}

TEST(Canonical, CastsToAWiderIndexAndBackAreDropped) {
  const Var x("x");
  Facts facts;
  facts.bind(x, Range(0, 16));
  Expr e = x;
  for (int n = 0; n < 100; ++n) e = cast(Int(32), cast(Int(64), e) + cast(Int(64), x));
  EXPECT_EQ(to_text(canonical_simplify(e, facts)), "(x*101)");
}

// ---- values by brute force ----------------------------------------------------------------------

class RandomExpressions {
 public:
  RandomExpressions(unsigned seed, std::vector<Var> vars) : random_(seed), vars_(std::move(vars)) {}

  Expr operator()(int depth) {
    if (depth == 0 || pick(8) == 0)
      return pick(3) == 0 ? number(pick(41) - 20) : vars_[pick(vars_.size())];
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
        return make_binary(BinaryOp::Add, (*this)(depth - 1), (*this)(depth - 1));
      case 3:
        return make_binary(BinaryOp::Sub, (*this)(depth - 1), (*this)(depth - 1));
      case 4:
      case 5:
        return make_binary(BinaryOp::Mul, (*this)(depth - 1), number(pick(13) - 4));
      case 6:
      case 7:
        return make_binary(BinaryOp::FloorDiv, (*this)(depth - 1), divisor());
      case 8:
      case 9:
        return make_binary(BinaryOp::FloorMod, (*this)(depth - 1), divisor());
      case 10:
        return make_binary(BinaryOp::TruncDiv, (*this)(depth - 1), divisor());
      default:
        return make_binary(BinaryOp::TruncMod, (*this)(depth - 1), divisor());
    }
  }

 private:
  std::int64_t pick(std::size_t n) { return static_cast<std::int64_t>(random_() % n); }
  static Expr number(std::int64_t value) { return make_int(Int(32), value); }
  Expr divisor() {
    constexpr std::int64_t kDivisors[] = {2, 3, 4, 6, 8, 12, 16, 5, -2, -3, -4};
    return number(kDivisors[pick(std::size(kDivisors))]);
  }

  std::mt19937 random_;
  std::vector<Var> vars_;
};

/// Both sides at every point of the ranges [first, last] of x and y.
void expect_equal_values(const Expr& a, const Expr& b, const std::vector<Var>& vars, int first,
                         int last) {
  for (int x = first; x <= last; ++x) {
    for (int y = first; y <= last; ++y) {
      auto value = [&](const Var& var) -> std::int64_t { return var.same_as(vars[0]) ? x : y; };
      ASSERT_EQ(evaluate_int(a, value), evaluate_int(b, value))
          << to_text(a) << "\nbecame " << to_text(b) << "\nx = " << x << ", y = " << y;
    }
  }
}

TEST(Canonical, KeepsValuesOfRandomExpressions) {
  TableScope scope("x:any y:any");
  RandomExpressions random(1, scope.vars());
  for (int i = 0; i < 6000; ++i) {
    Expr e = random(2 + i % 4);
    expect_equal_values(e, canonical_simplify(e, scope.facts()), scope.vars(), -13, 13);
    if (HasFatalFailure()) return;
  }
}

TEST(Canonical, KeepsValuesOverSmallRanges) {
  TableScope scope("x:[0,17) y:[0,17)");
  RandomExpressions random(2, scope.vars());
  for (int i = 0; i < 6000; ++i) {
    Expr e = random(2 + i % 4);
    expect_equal_values(e, canonical_simplify(e, scope.facts()), scope.vars(), 0, 16);
    if (HasFatalFailure()) return;
  }
}

TEST(Canonical, WeakRowsAreRight) {
  for (const Row& row : read_table("simplify.tsv")) {
    if (row.cells[0] != "weak") continue;
    TableScope scope(row.cells[1]);
    Expr e = scope.parse(row.cells[kInput]);
    Expr result = canonical_simplify(e, scope.facts());
    bool is_natural = row.cells[1] == "i:[0,8)" || row.cells[1] == "n:size";
    expect_equal_values(e, result, {scope.vars()[0], scope.vars()[0]}, is_natural ? 0 : -40,
                        is_natural ? 7 : 40);
  }
}

// ---- normal sums --------------------------------------------------------------------------------

// Sums that `simplify` takes for normal without a visit are what both passes make of them.

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
