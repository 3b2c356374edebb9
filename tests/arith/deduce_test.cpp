#include <gtest/gtest.h>

#include "tenon/interp/evaluate.h"
#include "tenon/tir/expr.h"
#include "tests/arith/intset_table.h"

namespace tenon::arith {
namespace {

using namespace tir;

struct Deduction {
  std::string min = "nothing", max = "nothing", min_simplified = "nothing",
              max_simplified = "nothing";
};

/// "hint b:[0,7] relax -"
std::pair<std::string, std::string> hint_and_relax(const std::string& text) {
  std::vector<std::string> parts = split_list(text, " relax ");
  return {parts[0].substr(std::string("hint ").size()), parts[1]};
}

std::optional<Interval> deduce(const IntsetRow& row, const TableScope& scope) {
  auto [hint, relax] = hint_and_relax(row.relaxed);
  Var var = scope.var(row.api.substr(std::string("deduce_bound ").size()));
  return deduce_bound(var, scope.parse(row.expression), parse_intervals(hint, scope),
                      parse_intervals(relax, scope), scope.facts());
}

TEST(DeduceBound, BoundsOfTheTable) {
  for (const IntsetRow& row : read_intset("deduce_bound")) {
    TableScope scope(row.variables);
    Deduction got;
    if (std::optional<Interval> bound = deduce(row, scope)) {
      got = {text_of_min(*bound), text_of_max(*bound),
             text_of_end(bound->min(), "-inf", scope.facts()),
             text_of_end(bound->max(), "+inf", scope.facts())};
    }
    EXPECT_EQ(got.min + " to " + got.max, row.min + " to " + row.max)
        << row.expression << ", " << row.relaxed;
    EXPECT_EQ(got.min_simplified + " to " + got.max_simplified,
              row.min_simplified + " to " + row.max_simplified)
        << row.expression << ", " << row.relaxed;
  }
}

/// Wherever the deduced interval allows the variable, the condition holds for all b in [0, 3] and c
/// in [-2, 1].
TEST(DeduceBound, IsSufficient) {
  TableScope scope("a:any b:any c:any");
  IntervalMap known = parse_intervals("b:[0,3] c:[-2,1]", scope);
  for (const char* comparison : {"<", "<=", ">", ">=", "=="}) {
    for (const char* left :
         {"((a*3) + b)", "(b - (a*2))", "((c*2) - (a + b))", "(((a + c)*4) - b)", "(5 - (a*-3))"}) {
      for (const char* right : {"7", "(b*2)", "(c - 4)"}) {
        std::string text = std::string("(") + left + " " + comparison + " " + right + ")";
        Expr condition = scope.parse(text);
        std::optional<Interval> bound = deduce_bound(scope.var("a"), condition, known, known);
        if (!bound) continue;
        for (std::int64_t a = -30; a <= 30; ++a) {
          if (bound->min() && a < *constant_int(*bound->min())) continue;
          if (bound->max() && a > *constant_int(*bound->max())) continue;
          for (std::int64_t b = 0; b <= 3; ++b) {
            for (std::int64_t c = -2; c <= 1; ++c) {
              auto at = [&](const Var& v) { return v.name() == "a" ? a : v.name() == "b" ? b : c; };
              ASSERT_EQ(evaluate_int(condition, at), 1)
                  << text << " at a = " << a << ", b = " << b << ", c = " << c;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenon::arith
