// Constant bounds and modular sets against bounds.tsv.
#include <gtest/gtest.h>

#include "tenon/arith/simplify.h"
#include "tenon/interp/evaluate.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"
#include "tests/tables/table.h"

namespace tenon::arith {
namespace {

using namespace tir;

std::string end_text(const std::optional<std::int64_t>& end, const char* infinite) {
  return end ? std::to_string(*end) : infinite;
}

TEST(Bounds, ConstantBoundsOfTheTable) {
  for (const Row& row : read_table("bounds.tsv")) {
    TableScope scope(row.cells[0], row.cells[1]);
    const Expr e = scope.parse(row.cells[2]);
    const ConstBound bound = const_bound(e, scope.facts());
    // The reference says [0, 2147483647]; but a uint32 from 2147483648 on wraps to a negative
    // int32.
    if (row.cells[2] == "cast(int32, w)") {
      EXPECT_EQ(bound, (ConstBound{integer_min(Int(32)), integer_max(Int(32))}));
      continue;
    }
    // Nor does it wrap sums of narrow types: what leaves the type may be anything in it.
    const DataType type = e.dtype();
    const bool is_narrow = type.is_integral() && type.bits < 32;
    if (is_narrow &&
        !(fits(std::stoll(row.cells[4]), type) && fits(std::stoll(row.cells[5]), type))) {
      EXPECT_EQ(bound, (ConstBound{integer_min(type), integer_max(type)})) << row.cells[2];
      continue;
    }
    const std::string got = end_text(bound.min, "-inf") + " " + end_text(bound.max, "+inf");
    EXPECT_EQ(got, row.cells[4] + " " + row.cells[5])
        << "line " << row.line << ": " << row.cells[2] << " with " << row.cells[0] << " given "
        << row.cells[1];
  }
}

TEST(Bounds, OfACastContainWhatItWrapsTo) {
  const Var w("w", UInt(32));
  const ConstBound bound = const_bound(cast(Int(32), w), Facts());
  for (std::int64_t value : {std::int64_t{0}, std::int64_t{2147483647}, std::int64_t{2147483648},
                             std::int64_t{4294967295}}) {
    const auto wrapped =
        std::get<std::int64_t>(evaluate(make_cast(Int(32), make_int(UInt(32), value))));
    EXPECT_TRUE(*bound.min <= wrapped && wrapped <= *bound.max) << value << " becomes " << wrapped;
  }
}

/// From 2^63 on a uint64 becomes negative, and is then below what it is kept above.
TEST(Bounds, OfUint64AsInt64AreOfEitherSign) {
  const Var w("w", UInt(64));
  const Expr wrapped = cast(Int(64), w), zero = make_int(Int(64), 0);
  EXPECT_EQ(const_bound(wrapped, Facts()), (ConstBound{}));
  EXPECT_EQ(modular_set(cast(Int(64), w * make_int(UInt(64), 3)), Facts()), (ModularSet{1, 0}));
  const Expr kept = max(min(wrapped, make_int(Int(64), 15)), zero);
  EXPECT_NE(print_expr(simplify(kept)).find("max("), std::string::npos);
  Facts facts;
  facts.bind(w, Range::from_min_extent(make_int(UInt(64), 0), make_int(UInt(64), 16)));
  EXPECT_EQ(print_expr(simplify(kept, facts)), "cast(int64, w)");
}

TEST(Bounds, OfALeftShiftThatLosesBitsAreThoseOfItsType) {
  const Var i("i");
  Facts facts;
  facts.bind(i, Range(0, 8));
  EXPECT_EQ(const_bound(i << 3, facts), (ConstBound{0, 56}));
  const ConstBound all{integer_min(Int(32)), integer_max(Int(32))};
  EXPECT_EQ(const_bound(i << 31, facts), all);
  EXPECT_EQ(const_bound(i << i * 9, facts), all);
}

TEST(Facts, SubstituteSmallValuesOnly) {
  const Var i("i");
  Facts facts;
  facts.bind(i, Range(0, 1 << 20));
  const auto mixed = [](const Expr& e) { return floormod(e, 1000) * 7 + floordiv(e, 13); };
  Expr last = i;
  for (int n = 0; n < 40; ++n) {
    const Var next("next");
    facts.bind(next, mixed(last));
    last = next;
  }
  EXPECT_LT(node_count(simplify(mixed(last), facts)), 200u);
}

TEST(Bounds, ModularSetsOfTheTable) {
  for (const Row& row : read_table("bounds.tsv")) {
    TableScope scope(row.cells[0], row.cells[1]);
    const ModularSet set = modular_set(scope.parse(row.cells[2]), scope.facts());
    EXPECT_EQ(std::to_string(set.coeff) + " " + std::to_string(set.base),
              row.cells[6] + " " + row.cells[7])
        << "line " << row.line << ": " << row.cells[2] << " with " << row.cells[0] << " given "
        << row.cells[1];
  }
}

// ---- against every value ------------------------------------------------------------------------

std::int64_t floor_divided(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

/// Divisors that are negative, positive, of both signs.
TEST(Bounds, ContainEveryQuotientAndRemainder) {
  for (int a_min = -7; a_min <= 5; ++a_min) {
    for (int b_min = -4; b_min <= 4; ++b_min) {
      const Var a("a"), b("b");
      Facts facts;
      facts.bind(a, Range::from_min_extent(a_min, 4));
      facts.bind(b, Range::from_min_extent(b_min, 3));
      const ConstBound quotient = const_bound(make_binary(BinaryOp::FloorDiv, a, b), facts);
      const ConstBound truncated = const_bound(make_binary(BinaryOp::TruncDiv, a, b), facts);
      const ConstBound remainder = const_bound(make_binary(BinaryOp::FloorMod, a, b), facts);
      const ConstBound rest = const_bound(make_binary(BinaryOp::TruncMod, a, b), facts);
      auto contains = [](const ConstBound& bound, std::int64_t v) {
        return (!bound.min || *bound.min <= v) && (!bound.max || v <= *bound.max);
      };
      for (int x = a_min; x < a_min + 4; ++x) {
        for (int y = b_min; y < b_min + 3; ++y) {
          if (y == 0) continue;
          EXPECT_TRUE(contains(quotient, floor_divided(x, y))) << x << " // " << y;
          EXPECT_TRUE(contains(truncated, x / y)) << x << " / " << y;
          EXPECT_TRUE(contains(remainder, x - y * floor_divided(x, y))) << x << " floormod " << y;
          EXPECT_TRUE(contains(rest, x % y)) << x << " % " << y;
        }
      }
    }
  }
}

/// Divisors without a value: the variable of a loop without iterations, and an unsigned 0.
TEST(Bounds, OfAQuotientWithoutADivisorAreThoseOfItsType) {
  const Var a("a"), none("none"), w("w", UInt(8)), zero("zero", UInt(8));
  Facts facts;
  facts.bind(a, Range(0, 8));
  facts.bind(none, Range::from_min_extent(0, 0));
  facts.bind(zero, Range::from_min_extent(make_int(UInt(8), 0), make_int(UInt(8), 1)));
  for (const BinaryOp op : {BinaryOp::FloorDiv, BinaryOp::TruncDiv}) {
    EXPECT_EQ(const_bound(make_binary(op, a, none), facts), const_bound(Var("any"), Facts()));
    EXPECT_EQ(const_bound(make_binary(op, w, zero), facts), (ConstBound{0, 255}));
  }
}

// ---- facts --------------------------------------------------------------------------------------

TEST(Facts, EndWithTheirScope) {
  const Var x("x");
  Facts facts;
  {
    const auto scope = facts.assume(x < 5);
    const auto inner = facts.assume(floormod(x, 4) == 3);
    EXPECT_EQ(const_bound(x, facts).max, 4);
    EXPECT_EQ(modular_set(x, facts), (ModularSet{4, 3}));
  }
  EXPECT_EQ(const_bound(x, facts).max, 2147483647);
  EXPECT_EQ(modular_set(x, facts), ModularSet{});
}

TEST(Facts, AnotherRangeReplacesOnlyWhereSaid) {
  const Var x("x");
  Facts facts;
  facts.bind(x, Range(0, 8));
  facts.bind(x, Range(0, 8));
  EXPECT_THROW(facts.bind(x, Range(0, 9)), InternalError);
  facts.bind(x, Range(0, 9), true);
  EXPECT_EQ(const_bound(x, facts).max, 8);
}

TEST(Facts, ALoopAfterALoopOfOneIterationForgetsItsValue) {
  const Var x("x");
  Facts facts;
  facts.bind(x, Range::from_min_extent(4, 1));
  facts.bind(x, Range(0, 8), true);
  EXPECT_EQ(const_bound(x, facts), (ConstBound{0, 7}));
  EXPECT_EQ(modular_set(x, facts), ModularSet{});
}

}  // namespace
}  // namespace tenon::arith
