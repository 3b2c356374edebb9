// Intervals of expressions, and intervals of variables deduced from conditions.
#include "tenon/arith/interval.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "tenon/arith/simplify.h"
#include "tenon/interp/evaluate.h"
#include "tenon/interp/scalar.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "tests/tables/table.h"

namespace tenon::arith {
namespace {

// ---- the table ----------------------------------------------------------------------------------

// Rows and intervals of golden/arith/intset.tsv.

struct IntsetRow {
  std::string api, variables, relaxed, predicate, expression, min, max, min_simplified,
      max_simplified;
};

/// The rows whose api begins so.
std::vector<IntsetRow> read_intset(std::string_view api) {
  std::vector<IntsetRow> rows;
  for (const Row& row : read_table("intset.tsv")) {
    const std::vector<std::string>& c = row.cells;
    if (c[0].starts_with(api))
      rows.push_back({c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]});
  }
  return rows;
}

/// "[0,7]", "[n,+inf]"
Interval parse_interval(std::string_view text, const TableScope& scope) {
  std::vector<std::string> ends = split_list(text.substr(1, text.size() - 2), ",");
  bool has_min = ends.at(0) != "-inf", has_max = ends.at(1) != "+inf";
  if (has_min && has_max) return Interval::of(scope.parse(ends[0]), scope.parse(ends[1]));
  if (has_min) return Interval::at_least(scope.parse(ends[0]));
  if (has_max) return Interval::at_most(scope.parse(ends[1]));
  return Interval::everything();
}

/// "i:[0,7] j:[n,(n + 7)]", "-"
IntervalMap parse_intervals(std::string_view text, const TableScope& scope) {
  IntervalMap intervals;
  for (const std::string& part : split_list(text, "]")) {
    std::size_t colon = part.find(':');
    if (colon == std::string::npos) continue;
    std::size_t start = part.find_first_not_of(' ');
    intervals.set(scope.var(part.substr(start, colon - start)),
                  parse_interval(part.substr(colon + 1) + "]", scope));
  }
  return intervals;
}

/// Truth values are written as numbers in this table.
std::string end_text(const Expr& e) {
  std::optional<std::int64_t> value = tir::constant_int(e);
  return value && e.dtype().is_bool() ? std::to_string(*value) : to_text(e);
}

std::string text_of_min(const Interval& interval) {
  return interval.min() ? end_text(*interval.min()) : "-inf";
}

std::string text_of_max(const Interval& interval) {
  return interval.max() ? end_text(*interval.max()) : "+inf";
}

/// An end, simplified.
std::string text_of_end(const std::optional<Expr>& end, const std::string& infinity,
                        const Facts& facts) {
  return end ? end_text(simplify(*end, facts)) : infinity;
}

// ---- intervals ----------------------------------------------------------------------------------

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

TEST(RegionLowerBound, ALoopOfSymbolicExtentMayBeTheLastDigit) {
  const Var i("i"), j("j"), m("m"), n("n");
  const auto ends_of = [&](const Expr& index, const Expr& extent) {
    const auto found =
        region_lower_bound({Range::from_min_extent(index, 1)},
                           {{i, Range::from_min_extent(m, extent)}, {j, Range(0, 4)}}, make_true());
    return found ? std::optional(std::pair(print_expr(simplify(*(*found)[0].min())),
                                           print_expr(simplify(*(*found)[0].max()))))
                 : std::nullopt;
  };
  // (m, n) elements from m*4 to m*4 + n*4 - 1.
  EXPECT_EQ(ends_of(i * 4 + j, n),
            std::pair(std::string("(m*4)"), std::string("(((n*4) + (m*4)) - 1)")));
  // The loop over j skips elements between two iterations of i.
  EXPECT_EQ(ends_of(i * 5 + j, n), std::nullopt);
  // The loop over i is not the last digit.
  EXPECT_EQ(ends_of(i + j * 4, n), std::nullopt);
  // The range of i depends on j.
  EXPECT_EQ(ends_of(i * 4 + j, j), std::nullopt);
  // Without iterations of i, no element is accessed.
  EXPECT_EQ(ends_of(j, n), std::nullopt);
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

/// All values of a type of 8 bits, and the ends and the surroundings of 0 of wider types.
std::vector<std::int64_t> special_values(DataType type) {
  const std::int64_t least = *constant_int(tir::min_value(type)),
                     greatest = *constant_int(tir::max_value(type));
  std::vector<std::int64_t> all;
  for (std::int64_t n = -128; n < 256; ++n) {
    for (const std::int64_t around : {std::int64_t{0}, least, greatest / 2}) {
      const std::int64_t value = static_cast<std::int64_t>(static_cast<std::uint64_t>(around) +
                                                           static_cast<std::uint64_t>(n));
      if (type == UInt(64) || fits(value, type)) all.push_back(value);
    }
    if (type == UInt(64) || fits(greatest - n, type)) all.push_back(greatest - n);
  }
  return all;
}

class ValuesOfData : public testing::TestWithParam<DataType> {};

TEST_P(ValuesOfData, ContainsEveryValueOfEveryOperatorWithAConstant) {
  const DataType type = GetParam();
  const Var i("i");
  const tir::Buffer data = tir::decl_buffer({8}, type, {.name = "data"});
  IntervalMap relaxed;
  relaxed.set(i, Interval::of(0, 7));
  const Expr element = make_load(data, {i});
  const std::vector<std::int64_t> values = special_values(type);
  const auto less = [&](std::int64_t a, std::int64_t b) {
    return interp::try_apply(BinaryOp::Lt, interp::integer(a), interp::integer(b), type)->i != 0;
  };
  const std::int64_t least = *constant_int(tir::min_value(type)),
                     greatest = *constant_int(tir::max_value(type));
  for (const auto& [low, high] :
       {std::pair{least, greatest}, std::pair{least + 1, std::int64_t{2}},
        std::pair{std::int64_t{1}, greatest}, std::pair{std::int64_t{0}, std::int64_t{5}}}) {
    const Expr clamped = tir::min(tir::max(element, make_int(type, low)), make_int(type, high));
    for (const Expr& dividend : {element, clamped})
      for (const std::int64_t constant :
           {std::int64_t{1}, std::int64_t{3}, std::int64_t{16}, std::int64_t{100}, std::int64_t{-1},
            std::int64_t{-3}, least, least + 1, greatest, greatest / 2 + 1}) {
        if (constant == 0 || !(type == UInt(64) || fits(constant, type))) continue;
        for (const BinaryOp op :
             {BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::TruncDiv, BinaryOp::TruncMod,
              BinaryOp::FloorDiv, BinaryOp::FloorMod, BinaryOp::Min, BinaryOp::Max}) {
          const Expr e = tir::make_binary(op, dividend, make_int(type, constant));
          const Interval interval = values_of(e, relaxed);
          for (std::int64_t value : values) {
            if (!dividend.same_as(element)) {
              if (less(value, low)) value = low;
              if (less(high, value)) value = high;
            }
            const std::int64_t result =
                interp::try_apply(op, interp::integer(value), interp::integer(constant), type)->i;
            ASSERT_FALSE(interval.min() && less(result, *constant_int(simplify(*interval.min()))))
                << to_text(e) << " from " << text_of_min(interval) << " for " << value;
            ASSERT_FALSE(interval.max() && less(*constant_int(simplify(*interval.max())), result))
                << to_text(e) << " to " << text_of_max(interval) << " for " << value;
          }
        }
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ValuesOfData,
                         testing::Values(Int(8), Int(16), UInt(8), UInt(16), UInt(32), UInt(64)),
                         [](const auto& info) { return info.param.str(); });

TEST(Ranges, OfMoreElementsThanTheTypeCountsAreTheDeclaredRange) {
  const Range declared = Range::from_extent(100);
  const auto range_of = [&](DataType type, std::int64_t min, std::int64_t max) {
    return Interval::of(make_int(type, min), make_int(type, max)).to_range(declared, Facts());
  };
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_TRUE(range_of(Int(64), least + 1, 2).extent.same_as(declared.extent));
  EXPECT_TRUE(range_of(UInt(32), 1, 2147483648).extent.same_as(declared.extent));
  EXPECT_TRUE(range_of(UInt(64), 1, -1).extent.same_as(declared.extent));
  const Range narrow = range_of(Int(8), -128, 2);
  EXPECT_EQ(constant_int(narrow.min), -128);
  EXPECT_EQ(constant_int(narrow.extent), 131);
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

TEST(ValuesOf, AnUnsignedEndBeyondInt64IsInfinite) {
  const Var u("u", UInt(64));
  IntervalMap relaxed;
  relaxed.set(u, Interval::of(make_int(UInt(64), 3), make_int(UInt(64), 9)));
  const Expr large = make_int(UInt(64), std::numeric_limits<std::int64_t>::min() + 2);
  EXPECT_TRUE(values_of(large, relaxed).is_everything());
  EXPECT_EQ(constant_int(*values_of(min(u, large), relaxed).max()), 9);
}

// ---- deduced intervals --------------------------------------------------------------------------

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
