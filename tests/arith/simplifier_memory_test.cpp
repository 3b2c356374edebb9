// Memoized results must equal computed ones: runs the same simplifications with a memory and
// without, under facts that begin and end.
#include "tenon/arith/simplifier_memory.h"

#include <gtest/gtest.h>

#include <random>

#include "tenon/arith/simplify.h"
#include "tenon/support/error.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"

namespace tenon::arith {
namespace {

using namespace tir;

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

}  // namespace
}  // namespace tenon::arith
