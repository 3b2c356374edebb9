#include "tenon/arith/wraps.h"

#include <gtest/gtest.h>

#include <limits>

#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/buffer.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"

namespace tenon::arith {
namespace {

using namespace tir;

const Var i("i"), j("j"), n = Var::size("n");

Expr element(DataType type = Int(32), const Expr& index = i) {
  static std::vector<std::pair<DataType, Buffer>> buffers;
  for (const auto& [of, buffer] : buffers)
    if (of == type) return make_load(buffer, {index});
  buffers.emplace_back(type, decl_buffer({8}, type, {.name = "A"}));
  return make_load(buffers.back().second, {index});
}

TEST(Wraps, SumsOfPositionsDoNot) {
  const Var u("u", UInt(8));
  for (const Expr& e : std::vector<Expr>{i * 4 + j, n - 1, cast(Int(64), i) * 8, max(i, n),
                                         if_then_else(i < n, i, j), i >> 2, i < n,
                                         cast(Int(32), i < n) + j, cast(Int(32), u) * 2 + j})
    EXPECT_FALSE(wraps(e)) << e;
}

/// 1 << 31 is negative.
TEST(Wraps, ShiftsToTheLeftDropBits) {
  EXPECT_TRUE(wraps(Expr(1) << i));
  EXPECT_FALSE(can_prove_equal((Expr(1) << i) - 1 >= 0, (Expr(1) << i) >= 1));
}

TEST(Wraps, ArithmeticOnDataWraps) {
  const Var f("f", Float(32)), u("u", UInt(8));
  for (const Expr& e : std::vector<Expr>{
           element() + 1, element() + i * 4, i < element(), cast(Int(64), element(Int(8))) * 2,
           cast(Int(32), f) + 1, cast(Int(32), u + u) + 1, u + u,
           call_pure_extern(Int(32), "f", i) + i, select(element() > 0, i, j) + 1})
    EXPECT_TRUE(wraps(e)) << e;
}

TEST(Wraps, AValueOfAnElementIsMarkedWhereItMayOverflow) {
  const std::vector<IterVar> axes = {IterVar(Range(0, 8), i, IterKind::DataParallel)};
  const auto kept = [&](const Expr& before, const Expr& after) {
    return keep_wrapping(before, after, axes);
  };
  EXPECT_TRUE(wraps(kept(element() * 576383424, (i * 2) * 576383424)));
  EXPECT_TRUE(wraps(kept(element(), i * 576383424)));
  EXPECT_TRUE(wraps(kept(cast(Int(32), element(Int(64))), cast(Int(32), cast(Int(64), i) << 40))));
  EXPECT_TRUE(wraps(kept(element() < i * 576383424, i < i * 576383424)));
  const Expr small = i * 2 + 9, choice = select(i * 576383424 < 0, i, 0);
  EXPECT_TRUE(kept(element() + 9, small).same_as(small));
  EXPECT_TRUE(kept(element(), choice).same_as(choice));
}

/// 2^31 - 1 + i wraps, also after a pass that folds the conversion to 2^31 - 1.
TEST(Wraps, ASumWithDataThatFoldsStillWraps) {
  Facts facts;
  facts.bind(i, Range(0, 8));
  const Expr end = make_cast(Int(32), make_float(Float(32), 1e10));
  const Expr sum = make_binary(BinaryOp::Add, end, i);
  const Var x = Var::let("x", end);
  for (const Expr& e : {sum, max(sum, -1), floordiv(sum, 4), select(sum < 0, i, j),
                        make_let(x, end, make_binary(BinaryOp::Max, x + i, make_int(Int(32), 0)))})
    for (const auto& pass : {rewrite_simplify, canonical_simplify}) {
      const Expr once = pass(e, facts);
      EXPECT_TRUE(contains<Call>(once)) << e << " became " << once;
      EXPECT_TRUE(contains<Call>(simplify(once, facts))) << once << " became " << simplify(once);
    }
  const Expr small = make_cast(Int(32), make_float(Float(32), 5));
  EXPECT_TRUE(structural_equal(simplify(make_binary(BinaryOp::Add, small, i), facts), i + 5));
  EXPECT_TRUE(is_zero(simplify(end - end + i < 0, facts)));
}

TEST(Wraps, ALetOfDataDoesWithoutFacts) {
  const Var data = Var::let("x", element()), position = Var::let("y", i + 1);
  EXPECT_TRUE(wraps(data * 4));
  EXPECT_TRUE(wraps(data.fresh() * 4));
  EXPECT_FALSE(wraps(position * 4));
  const Expr quotient = floordiv(data * 4, 4);
  EXPECT_TRUE(structural_equal(simplify(quotient), quotient)) << simplify(quotient);
}

TEST(Wraps, AVariableThatIsBoundToDataDoes) {
  Facts facts;
  EXPECT_FALSE(wraps(i + 1, facts));
  bind_data(i, facts);
  EXPECT_TRUE(wraps(i + 1, facts));
  EXPECT_FALSE(wraps(j + 1, facts));
  EXPECT_TRUE(structural_equal(simplify(i + 10 > 20, facts),
                               simplify(make_int(Int(32), 20) < i + 10, facts)));
  EXPECT_TRUE(structural_equal(simplify(j + 10 > 20, facts), make_int(Int(32), 10) < j));
}

TEST(Wraps, AFactAboutASumOfDataIsNoneAboutItsParts) {
  Facts facts;
  const Var v("v");
  bind_data(v, facts);
  const auto known = facts.assume(v + 10 > 20);
  EXPECT_TRUE(can_prove(v + 10 > 20, facts));
  EXPECT_FALSE(can_prove(v > 10, facts));
  EXPECT_FALSE(can_prove(element() + 10 > element(), facts));
  EXPECT_TRUE(can_prove(element() + 10 != element(), facts));
}

// Once `element() > 0` is decided, the product contains no element, but it still overflows.
TEST(Wraps, APositionThatAlwaysOverflowsHasAnyValue) {
  Facts facts;
  facts.bind(i, Range::from_min_extent(0, 4));
  const Expr factor = i * 3 - 81, least = min_value(Int(32));
  EXPECT_EQ(const_bound(factor * least, facts),
            (ConstBound{integer_min(Int(32)), integer_max(Int(32))}));
  EXPECT_FALSE(can_prove(truncdiv(factor * least, 1 << 30) != 0, facts));
  EXPECT_EQ(const_bound(factor * 4, facts), (ConstBound{-324, -288}));
}

TEST(Wraps, ASumOrProductThatAlwaysOverflows64BitsHasAnyValue) {
  const Var i("i");
  Facts facts;
  facts.bind(i, Range(0, 64));
  const Expr negative = cast(Int(64), i * 2 - 241);
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  for (const Expr& e : {negative + make_int(Int(64), least), negative * make_int(Int(64), least),
                        negative * make_int(Int(64), -8907715987531675734)})
    EXPECT_EQ(const_bound(e, facts), ConstBound{}) << e;
  EXPECT_FALSE(can_prove(negative + make_int(Int(64), least) < 2000, facts));
  EXPECT_EQ(const_bound(negative + make_int(Int(64), least + 300), facts),
            (ConstBound{least + 59, least + 185}));
}

TEST(Wraps, BoundsOfWhatMayOverflowAreThoseOfTheType) {
  const Facts facts;
  const ConstBound all{integer_min(Int(32)), integer_max(Int(32))};
  EXPECT_EQ(const_bound(element() + 10, facts), all);
  EXPECT_EQ(const_bound(floordiv(element(), -1), facts), all);
  EXPECT_EQ(const_bound(cast(Int(32), element(UInt(8))) * 4 + 3, facts), (ConstBound{3, 1023}));
  EXPECT_EQ(const_bound(element(UInt(8)) * 2, facts), (ConstBound{0, 255}));
  EXPECT_TRUE(values_of(element(Int(32), 0) + j, {}).is_point());
}

/// Small data is as good as positions.
TEST(Wraps, DataThatStaysWithinItsTypeIsSimplified) {
  const Expr small = cast(Int(32), element(UInt(8)));
  EXPECT_TRUE(structural_equal(simplify(floordiv(small * 4 + 3, 4)), small));
  EXPECT_TRUE(structural_equal(simplify(small + 10 < small + 20), make_true()));
}

TEST(Wraps, APositionInsideOfDataArithmeticIsData) {
  Facts facts;
  facts.bind(i, Range(0, 4));
  const Expr big = i * 1000000000, e = floordiv(big, 1000000000) + element();
  EXPECT_TRUE(structural_equal(simplify(e, facts), e)) << simplify(e, facts);
  EXPECT_TRUE(structural_equal(simplify(floordiv(big, 1000000000), facts), i));
  EXPECT_TRUE(structural_equal(simplify(floordiv(i * 4, 4) + element(), facts), i + element()));
}

}  // namespace
}  // namespace tenon::arith
