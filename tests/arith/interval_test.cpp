#include "tenon/arith/interval.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tenon/arith/simplify.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tests/arith/intset_table.h"

namespace tenon::arith {
namespace {

using namespace tir;

/// Expressions whose interval is deliberately another one: "<relaxed> <expression>" to "min max".
const std::map<std::string, std::string>& deliberate() {
  static const std::map<std::string, std::string> texts = {
      // The reference fails with an error on a half-infinite operand.
      {"i:[0,+inf] floormod(i, 4)", "0 3"},
      // A truncating remainder has the sign of its dividend; the reference takes every dividend for
      // positive.
      {"i:[-4,3] (i % 4)", "-3 3"},
  };
  return texts;
}

TEST(ValuesOf, IntervalsOfTheTable) {
  for (const IntsetRow& row : read_intset("int_set")) {
    TableScope scope(row.variables);
    Interval values =
        values_of(scope.parse(row.expression), parse_intervals(row.relaxed, scope), scope.facts());
    std::string got = text_of_min(values) + " " + text_of_max(values);
    auto other = deliberate().find(row.relaxed + " " + row.expression);
    if (other != deliberate().end()) {
      EXPECT_EQ(got, other->second);
      continue;
    }
    EXPECT_EQ(got, row.min + " " + row.max) << row.expression << " over " << row.relaxed;
    std::string simplified = text_of_end(values.min(), "-inf", scope.facts()) + " " +
                             text_of_end(values.max(), "+inf", scope.facts());
    EXPECT_EQ(simplified, row.min_simplified + " " + row.max_simplified)
        << row.expression << " over " << row.relaxed;
  }
}

TEST(UnionLowerBound, IntervalsOfTheTable) {
  for (const IntsetRow& row : read_intset("union_lower_bound")) {
    TableScope scope("-");
    std::vector<Interval> sets;
    for (const std::string& text : split_list(row.relaxed, " ; "))
      sets.push_back(parse_interval(text, scope));
    Interval all = union_lower_bound(sets);
    EXPECT_EQ(text_of_min(all) + " " + text_of_max(all), row.min + " " + row.max) << row.relaxed;
  }
}

TEST(UnionLowerBound, EmptyMembersCountForNothing) {
  Interval all = union_lower_bound(
      {Interval::empty(), Interval::of(0, 3), Interval::empty(), Interval::of(4, 5)});
  EXPECT_EQ(text_of_min(all) + " " + text_of_max(all), "0 5");
  EXPECT_TRUE(union_lower_bound({Interval::empty(), Interval::empty()}).is_empty());
}

TEST(RegionLowerBound, RegionsOfTheTable) {
  for (const IntsetRow& row : read_intset("estimate_region_lower_bound")) {
    TableScope scope(row.variables);
    std::vector<std::pair<Var, Range>> domain;
    std::vector<std::string> declarations = split_list(row.variables, " ");
    for (std::size_t i = 0; i < declarations.size(); ++i) {
      ConstBound bound = const_bound(scope.vars()[i], scope.facts());
      if (declarations[i].find('[') == std::string::npos) continue;
      domain.emplace_back(scope.vars()[i], Range(*bound.min, *bound.max + 1));
    }
    std::vector<Range> region;
    for (const std::string& text : split_list(row.relaxed, " ; ")) {
      std::size_t colon = text.rfind(':');
      region.push_back(Range::from_min_extent(scope.parse(text.substr(0, colon)),
                                              scope.parse(text.substr(colon + 1))));
    }
    std::string min = "none", max = "none";
    if (auto touched = region_lower_bound(region, domain, scope.parse(row.predicate))) {
      min = max = "";
      for (const Interval& dim : *touched) {
        min += (min.empty() ? "" : " , ") + text_of_min(dim);
        max += (max.empty() ? "" : " , ") + text_of_max(dim);
      }
    }
    EXPECT_EQ(min + " to " + max, row.min + " to " + row.max)
        << row.relaxed << " where " << row.predicate;
  }
}

TEST(RegionLowerBound, NegativeStride) {
  Var i("i");
  auto touched =
      region_lower_bound({Range::from_min_extent(1 - i, 1)}, {{i, Range(0, 4)}}, make_true());
  ASSERT_TRUE(touched);
  EXPECT_EQ(text_of_min(touched->front()) + " " + text_of_max(touched->front()), "-2 1");
}

TEST(Interval, HullAndIntersectionOfConstants) {
  Interval all = hull({Interval::of(4, 7), Interval::empty(), Interval::of(0, 5)});
  EXPECT_EQ(text_of_min(all) + " " + text_of_max(all), "0 7");
  Interval both = intersect(Interval::of(4, 7), Interval::at_most(5));
  EXPECT_EQ(text_of_min(both) + " " + text_of_max(both), "4 5");
  EXPECT_TRUE(intersect(Interval::of(4, 7), Interval::at_most(3)).is_empty());
  EXPECT_TRUE(hull({}).is_empty());
}

TEST(Interval, RangeThereAndBack) {
  Var n("n");
  Range range = Interval::from_range(Range::from_min_extent(n, 8)).to_range(Range(0, 1), Facts());
  EXPECT_EQ(to_text(range.min) + " " + to_text(range.extent), "n 8");
  Range otherwise = Interval::at_least(n).to_range(Range(0, 3), Facts());
  EXPECT_EQ(to_text(otherwise.extent), "3");
}

TEST(LinearForm, CoefficientsAndBase) {
  TableScope scope("i:any j:any k:any n:size");
  auto form = linear_form(scope.parse("((((i*n) + (3*(j - i))) + k) - 5)"),
                          {scope.var("i"), scope.var("j")});
  ASSERT_TRUE(form);
  EXPECT_EQ(to_text(form->coefficients[0]), "(n + -3)");
  EXPECT_EQ(to_text(form->coefficients[1]), "3");
  EXPECT_EQ(to_text(form->base), "(k - 5)");
}

TEST(LinearForm, RefusesProductsAndDivisionsOfItsVariables) {
  TableScope scope("i:any j:any");
  for (const char* text : {"(i*j)", "floordiv(i, 2)", "(i*i)", "min(i, 3)", "((i + 1)*j)"}) {
    EXPECT_FALSE(linear_form(scope.parse(text), scope.vars())) << text;
  }
  EXPECT_TRUE(linear_form(scope.parse("floordiv(j, 2)"), {scope.var("i")}));
}

// ---- brute force --------------------------------------------------------------------------------

class RandomExpressions {
 public:
  RandomExpressions(unsigned seed, std::vector<Var> vars) : random_(seed), vars_(std::move(vars)) {}

  Expr operator()(int depth, bool affine) {
    if (depth == 0 || pick(8) == 0)
      return pick(3) == 0 ? number(pick(41) - 20) : vars_[pick(vars_.size())];
    Expr a = (*this)(depth - 1, affine);
    switch (pick(affine ? 5 : 13)) {
      case 0:
      case 1:
        return make_binary(BinaryOp::Add, a, (*this)(depth - 1, affine));
      case 2:
        return make_binary(BinaryOp::Sub, a, (*this)(depth - 1, affine));
      case 3:
      case 4:
        return make_binary(BinaryOp::Mul, a, number(pick(13) - 4));
      case 5:
        return make_binary(BinaryOp::FloorDiv, a, divisor());
      case 6:
      case 7:
        return make_binary(BinaryOp::FloorMod, a, divisor());
      case 8:
        return make_binary(BinaryOp::TruncDiv, a, divisor());
      case 9:
        return make_binary(BinaryOp::TruncMod, a, divisor());
      case 10:
        return make_binary(BinaryOp::Min, a, (*this)(depth - 1, affine));
      case 11:
        return make_binary(BinaryOp::Max, a, (*this)(depth - 1, affine));
      default:
        return make_select(make_binary(BinaryOp::Lt, a, number(3)), a, (*this)(depth - 1, affine));
    }
  }

 private:
  std::int64_t pick(std::size_t n) { return static_cast<std::int64_t>(random_() % n); }
  static Expr number(std::int64_t value) { return make_int(Int(32), value); }
  Expr divisor() {
    constexpr std::int64_t kDivisors[] = {2, 3, 4, 8, 5, -2, -3};
    return number(kDivisors[pick(std::size(kDivisors))]);
  }

  std::mt19937 random_;
  std::vector<Var> vars_;
};

/// The least and greatest value for i in [-3, 6], j in [2, 9] at one n; and the ends at that n.
struct Observed {
  std::int64_t least, greatest;
  std::optional<std::int64_t> min, max;
};

Observed observe(const Expr& e, const Interval& values, const TableScope& scope, std::int64_t n) {
  Observed seen{INT64_MAX, INT64_MIN, {}, {}};
  for (std::int64_t i = -3; i <= 6; ++i) {
    for (std::int64_t j = 2; j <= 9; ++j) {
      auto at = [&](const Var& var) {
        return var.same_as(scope.vars()[0]) ? i : var.same_as(scope.vars()[1]) ? j : n;
      };
      std::int64_t value = evaluate_int(e, at);
      seen.least = std::min(seen.least, value);
      seen.greatest = std::max(seen.greatest, value);
      if (values.min()) seen.min = evaluate_int(*values.min(), at);
      if (values.max()) seen.max = evaluate_int(*values.max(), at);
    }
  }
  return seen;
}

TEST(ValuesOf, ContainsEveryValue) {
  TableScope scope("i:any j:any n:any");
  IntervalMap relaxed = parse_intervals("i:[-3,6] j:[2,9]", scope);
  RandomExpressions random(3, scope.vars());
  for (int round = 0; round < 4000; ++round) {
    Expr e = random(2 + round % 3, false);
    Interval values = values_of(e, relaxed);
    for (std::int64_t n : {-7, 0, 3, 10}) {
      Observed seen = observe(e, values, scope, n);
      ASSERT_LE(seen.min.value_or(seen.least), seen.least)
          << to_text(e) << " from " << text_of_min(values) << ", n = " << n;
      ASSERT_GE(seen.max.value_or(seen.greatest), seen.greatest)
          << to_text(e) << " to " << text_of_max(values) << ", n = " << n;
    }
  }
}

TEST(ValuesOf, IsExactForAffineExpressions) {
  TableScope scope("i:any j:any n:any");
  IntervalMap relaxed = parse_intervals("i:[-3,6] j:[2,9]", scope);
  RandomExpressions random(4, scope.vars());
  for (int round = 0; round < 2000; ++round) {
    // A variable that occurs twice is two unknowns to interval arithmetic; the canonical form
    // brings it together.
    Expr e = canonical_simplify(random(2 + round % 3, true), scope.facts());
    Interval values = values_of(e, relaxed);
    for (std::int64_t n : {-7, 3}) {
      Observed seen = observe(e, values, scope, n);
      ASSERT_EQ(seen.min, seen.least)
          << to_text(e) << " from " << text_of_min(values) << ", n = " << n;
      ASSERT_EQ(seen.max, seen.greatest)
          << to_text(e) << " to " << text_of_max(values) << ", n = " << n;
    }
  }
}

TEST(ValuesOf, NothingIsKnownOfAPositionBeyondTheType) {
  const Var i("i"), wide("wide", Int(64));
  IntervalMap values;
  values.set(i, Interval::point(12));
  values.set(wide, Interval::point(make_int(Int(64), 2147483648)));
  EXPECT_TRUE(values_of(i + 2147483636, values).is_everything());
  EXPECT_TRUE(values_of(i * 2147483636, values).is_everything());
  EXPECT_TRUE(values_of(cast(Int(32), wide), values).is_everything());
}

TEST(ValuesOf, AnEndBeyondTheTypeIsInfinite) {
  const Var i("i"), j("j");
  IntervalMap relaxed;
  relaxed.set(i, Interval::of(make_int(Int(32), 0), make_int(Int(32), 1)));
  relaxed.set(j, Interval::of(make_int(Int(32), 0), make_int(Int(32), 2147483645)));
  // Up to 4294967291: folded in int32, that would be -5.
  const Interval values = values_of(i * 2147483646 + j, relaxed);
  EXPECT_EQ(constant_int(*values.min()), 0);
  EXPECT_FALSE(values.max().has_value());
  EXPECT_FALSE(values_of(i * 2147483647 + i * 2147483647, relaxed).max().has_value());
}

}  // namespace
}  // namespace tenon::arith
