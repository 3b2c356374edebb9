#include "tenon/tir/ops.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tenon/interp/evaluate.h"
#include "tenon/tir/combination.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::tir {
namespace {

const Var i("i"), j("j");
const Var b8("b", Int(8)), u8("u", UInt(8)), h("h", Float(16)), f("f"), d("d", Float(64)),
    truth("t", Bool());
const Var f32("f", Float(32));

TEST(Promotion, LiteralTakesTheTypeThatItMeets) {
  EXPECT_EQ((b8 + 1).dtype(), Int(8));
  EXPECT_EQ((1 + b8).dtype(), Int(8));
  EXPECT_EQ((h * 2.5f).dtype(), Float(16));
  EXPECT_EQ((f32 * 2).dtype(), Float(32));
  EXPECT_EQ(max(u8, 3).dtype(), UInt(8));
  EXPECT_EQ(if_then_else(truth, b8, 0).dtype(), Int(8));
  EXPECT_EQ((i * 2.0f).dtype(), Float(32));
}

TEST(Promotion, TwoLiteralsTakeTheirCommonTypeInEitherOrder) {
  const std::int64_t large = std::int64_t{1} << 40;
  EXPECT_EQ(select(truth, large, 1).dtype(), Int(64));
  EXPECT_EQ(select(truth, 1, large).dtype(), Int(64));
  EXPECT_EQ(min(1, large).dtype(), Int(64));
  EXPECT_EQ(select(truth, 1, 0.5).dtype(), Float(32));
}

TEST(IdentityOf, ASumOfFloatsKeepsTheSignOfZero) {
  for (const DataType type : {Float(16), Float(32), Float(64)}) {
    const Expr sum = make_float(type, -0.0) + identity_of(BinaryOp::Add, type);
    EXPECT_TRUE(std::signbit(sum.as<FloatImm>()->value)) << type.str();
  }
}

TEST(Cast, DoesNotRoundALiteralToFloat32) {
  EXPECT_EQ(cast(Float(64), 0.1).as<FloatImm>()->value, 0.1);
  EXPECT_EQ(cast(Float(64), 1e300).as<FloatImm>()->value, 1e300);
  EXPECT_EQ(cast(Int(8), 300).as<IntImm>()->value, 44);
}

TEST(Promotion, LiteralThatDoesNotFitIsATypeErrorWithItsLine) {
  try {
    (void)(u8 + 300);
    FAIL() << "accepted";
  } catch (const TypeError& error) {
    EXPECT_NE(std::string(error.what()).find("300 does not fit uint8 (at ops_test.cpp:"),
              std::string::npos);
  }
  EXPECT_THROW((void)(u8 + -1), TypeError);
  EXPECT_THROW((void)make_const(Int(8), 300), TypeError);
}

TEST(Promotion, WiderWinsAndUnsignedWinsAtEqualWidth) {
  const Var i16("i", Int(16)), u16("u", UInt(16)), i64("i", Int(64)), u32("u", UInt(32));
  EXPECT_EQ((i16 + b8).dtype(), Int(16));
  EXPECT_EQ((i16 + u16).dtype(), UInt(16));
  EXPECT_EQ((i64 + u32).dtype(), Int(64));
  EXPECT_EQ((i + u32).dtype(), UInt(32));
  EXPECT_EQ((f32 + d).dtype(), Float(64));
  EXPECT_EQ((h + i).dtype(), Float(16));
}

TEST(Promotion, MathematicsIsInTheCommonTypeOfItsArguments) {
  const Var four("four", Float(32, 4)), bf("bf", BFloat(16));
  for (const Expr& e :
       {hypot(f32, h), hypot(h, f32), hypot(h, bf), pow(f32, i), pow(i, f32), pow(f32, 2)})
    EXPECT_EQ(e.dtype(), Float(32)) << print_expr(e);
  EXPECT_EQ(nextafter(f32, d).dtype(), Float(64));
  EXPECT_EQ(fma(h, i, 2.5).dtype(), Float(16));
  for (const Expr& e : {pow(four, f32), pow(f32, four), pow(four, 2), fma(f32, h, four)})
    EXPECT_EQ(e.dtype(), Float(32, 4)) << print_expr(e);
}

TEST(Operators, IntegersHaveNoSlashAndNoPercent) {
  for (const auto& misuse : {+[] { (void)(i / 2); }, +[] { (void)(i % 2); }}) {
    try {
      misuse();
      FAIL() << "accepted";
    } catch (const TypeError& error) {
      for (const char* way_out : {"floordiv", "floormod", "truncdiv", "truncmod"})
        EXPECT_NE(std::string(error.what()).find(way_out), std::string::npos) << error.what();
    }
  }
}

TEST(Operators, MathematicsOfIntegersIsATypeError) {
  EXPECT_THROW((void)exp(i), TypeError);
  EXPECT_THROW((void)pow(i, 2), TypeError);
  EXPECT_THROW((void)floordiv(f32, 2.0f), TypeError);
  EXPECT_THROW((void)(f32 << 1), TypeError);
  EXPECT_THROW((void)(i << 32), TypeError);
  EXPECT_THROW((void)(i && truth), TypeError);
  EXPECT_THROW((void)if_then_else(i, 1, 2), TypeError);
  EXPECT_THROW((void)floordiv(i, 0), TypeError);
}

TEST(Folding, IdentitiesAndConstants) {
  EXPECT_TRUE((i + 0).same_as(i));
  EXPECT_TRUE((1 * i).same_as(i));
  EXPECT_TRUE(is_zero(i * 0));
  EXPECT_TRUE(is_constant_int(floordiv(Expr(-7), 2), -4));
  EXPECT_TRUE(is_constant_int(truncdiv(Expr(-7), 2), -3));
  EXPECT_TRUE(is_constant_int(floormod(Expr(-7), 2), 1));
  EXPECT_TRUE(is_constant_int(truncmod(Expr(-7), 2), -1));
  EXPECT_TRUE((truth && true).same_as(truth));
}

TEST(Folding, FloatsKeepTheirSpecialValues) {
  // x * 0 is no number for an infinite x.
  EXPECT_FALSE(is_constant(f32 * 0.0f));
  EXPECT_FALSE(is_constant(0.0f / f32));
}

TEST(Folding, IsTotalAndAgreesWithTheInterpreter) {
  // Every operator on the corners of every integer type: no crash, and what is folded is what
  // evaluation gives.
  const std::vector<BinaryOp> ops = {BinaryOp::Add,      BinaryOp::Sub,      BinaryOp::Mul,
                                     BinaryOp::TruncDiv, BinaryOp::TruncMod, BinaryOp::FloorDiv,
                                     BinaryOp::FloorMod, BinaryOp::Min,      BinaryOp::Max,
                                     BinaryOp::Lt,       BinaryOp::Le,       BinaryOp::Eq};
  for (DataType type : {Int(8), Int(16), Int(32), Int(64), UInt(8), UInt(16), UInt(32), UInt(64)}) {
    std::vector<std::int64_t> corners = {integer_min(type), wrap(-1, type), 0, 1,
                                         integer_max(type).value_or(-1)};
    for (std::int64_t x : corners) {
      for (std::int64_t y : corners) {
        for (BinaryOp op : ops) {
          Expr plain = make_binary(op, make_int(type, x), make_int(type, y));
          auto folded = fold_constants(op, make_int(type, x), make_int(type, y));
          const bool divides = op == BinaryOp::TruncDiv || op == BinaryOp::TruncMod ||
                               op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod;
          if (divides && y == 0) {
            EXPECT_FALSE(folded.has_value());
            continue;
          }
          ASSERT_TRUE(folded.has_value()) << print_expr(plain);
          EXPECT_EQ(constant_int(*folded), std::get<std::int64_t>(evaluate(plain)))
              << print_expr(plain);
        }
      }
    }
  }
}

TEST(Constants, ExtremesOfTypes) {
  EXPECT_EQ(print_expr(min_value(Float(32))), "-3.40282e+38f32");
  EXPECT_EQ(print_expr(max_value(Int(8))), "127i8");
  EXPECT_EQ(print_expr(max_value(UInt(64))), "18446744073709551615u64");
  EXPECT_EQ(print_expr(infinity(Float(64))), "inff64");
  EXPECT_THROW((void)infinity(Int(32)), TypeError);
}

TEST(Negation, OfFloatsIsAProductAndOfIntegersADifference) {
  EXPECT_EQ(print_expr(-f32), "(f*-1f32)");
  EXPECT_EQ(print_expr(-i), "(0 - i)");
}

TEST(Constants, AreValuesOfTheirType) {
  const auto real = [](const Expr& e) { return e.as<FloatImm>()->value; };
  EXPECT_EQ(real(make_const(Float(16), 2049)), 2048);
  EXPECT_EQ(real(make_const(BFloat(16), 257)), 256);
  EXPECT_EQ(real(make_const(Float(32), 0.1)), static_cast<double>(0.1f));
  EXPECT_EQ(real(cast(Float(64), make_const(Float(32), 0.1))), static_cast<double>(0.1f));
  EXPECT_EQ(constant_int(make_int(UInt(8), 300)), 44);
  EXPECT_EQ(constant_int(make_int(UInt(32), -1)), 0xffffffff);
}

TEST(Vectors, HaveAtMost65535Lanes) {
  const Expr zero = make_int(Int(32), 0);
  EXPECT_EQ(make_broadcast(zero, 65535).dtype(), Int(32, 65535));
  EXPECT_THROW(make_broadcast(zero, 65536), TypeError);
  EXPECT_THROW(make_ramp(zero, zero, 65536), TypeError);
  EXPECT_THROW(make_shuffle({zero}, std::vector<Expr>(65536, zero)), TypeError);
}

TEST(Folding, DropsOnlyTheZeroThatChangesNothing) {
  const Var x("x", Float(32));
  EXPECT_EQ(print_expr(x + 0.0f), "(x + 0f32)");
  EXPECT_TRUE((x + -0.0f).same_as(x));
  EXPECT_TRUE((x - 0.0f).same_as(x));
  EXPECT_EQ(print_expr(x - -0.0f), "(x - -0f32)");
}

TEST(Folding, ConversionsOutOfRangeSaturate) {
  EXPECT_EQ(constant_int(cast(Int(8), make_const(Float(32), 1000))), 127);
  EXPECT_EQ(constant_int(cast(UInt(8), make_const(Float(32), -1))), 0);
  EXPECT_EQ(constant_int(cast(Int(32), infinity(Float(64)))), 2147483647);
}

TEST(Effects, APureFunctionReadsWhatItsPointersPointTo) {
  const Buffer a = decl_buffer({4}, Int(32), {.name = "A"});
  EXPECT_EQ(effect_of(call_pure_extern(Int(32), "first", a->data)), Effect::ReadState);
  EXPECT_EQ(effect_of(call_pure_extern(Int(32), "next", Var("x"))), Effect::Pure);
}

TEST(Operands, AllButTheFirstOfAChoiceAreEvaluatedUnderItsCondition) {
  const Var c("c", Bool()), x("x"), y("y");
  std::vector<std::string> found;
  const auto list = [&](const Expr& e) {
    found.clear();
    for_each_operand(
        e, [&](const Expr& operand) { found.push_back(print_expr(operand)); },
        [&](const Expr& condition, const Expr& operand) {
          found.push_back(print_expr(condition) + ": " + print_expr(operand));
        });
    return found;
  };
  using Operands = std::vector<std::string>;
  EXPECT_EQ(list(if_then_else(c, x, y)), (Operands{"c", "c: x", "!c: y"}));
  EXPECT_EQ(list(x < y || c), (Operands{"(x < y)", "!(x < y): c"}));
  EXPECT_EQ(list(c && x < y), (Operands{"c", "c: (x < y)"}));
  EXPECT_EQ(list(x + y), (Operands{"x", "y"}));
}

// ---- positions ----------------------------------------------------------------------------------

TEST(AsIndex, DoesArithmeticOfNarrowSizesInAnIndexType) {
  const Var u16("m", UInt(16)), u32("l", UInt(32));
  const std::pair<Expr, const char*> cases[] = {
      {b8 * 2, "(cast(int32, b)*2)"},
      {u8 - 200, "(cast(int32, u) - 200)"},
      {u16 * u16 + 1, "((cast(int32, m)*cast(int32, m)) + 1)"},
      {u32 + 1, "(cast(int64, l) + 1i64)"},
      {i + u8 * 2, "(i + (cast(int32, u)*2))"},
      {u16 + u8 * 2, "(cast(int32, m) + (cast(int32, u)*2))"},
      {select(u8 * 2 < 30, u8, 1), "select(((cast(int32, u)*2) < 30), cast(int32, u), 1)"},
  };
  for (const auto& [e, expected] : cases) EXPECT_EQ(print_expr(as_index(e)), expected);
}

TEST(AsIndex, WidensChoicesOfAnyDepth) {
  constexpr int kDepth = 100'000;
  Expr e = b8;
  for (int n = 0; n < kDepth; ++n) e = select(truth, e, b8);
  EXPECT_EQ(as_index(e).dtype(), Int(32));
}

TEST(AsIndex, KeepsDataAndTruncations) {
  const Buffer buffer = decl_buffer({8}, UInt(8), {.name = "A"});
  const Expr element = make_load(buffer, {i});
  for (const Expr& e : std::vector<Expr>{element + 200, cast(Int(32), element + 200), i * 2,
                                         cast(Int(32), cast(UInt(8), i))})
    EXPECT_TRUE(structural_equal(as_index(e), e)) << e;
}

}  // namespace
}  // namespace tenon::tir
