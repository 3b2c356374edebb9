// Functions of one tensor: what is declared, and what is refused.
#include "tenon/topi/elementwise.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tests/topi/misuse.h"
#include "tests/topi/text.h"

namespace tenon::topi {
namespace {

using te::placeholder;
using tir::Expr;
using tir::Operand;

struct ElementwiseTest : ::testing::Test {
  Tensor A = placeholder({4, 3}, "A"), I = placeholder({4, 3}, "I", Int(32)),
         U = placeholder({4, 3}, "U", UInt(8)), T = placeholder({4, 3}, "T", Bool());
};

TEST_F(ElementwiseTest, ElementsAreThoseOfTheFunctionOnExpressions) {
  struct Row {
    Tensor (*whole)(const Tensor&, Name, SourceLocation);
    Expr (*element)(const Operand&);
    const char* name;
    Tensor x;
  };
  const std::vector<Row> rows = {{abs, tir::abs, "T_abs", A},
                                 {abs, tir::abs, "T_abs", I},
                                 {negative, tir::operator-, "T_negative", A},
                                 {negative, tir::operator-, "T_negative", I},
                                 {exp, tir::exp, "T_exp", A},
                                 {exp2, tir::exp2, "T_exp2", A},
                                 {exp10, tir::exp10, "T_exp10", A},
                                 {log, tir::log, "T_log", A},
                                 {log2, tir::log2, "T_log2", A},
                                 {log10, tir::log10, "T_log10", A},
                                 {log1p, tir::log1p, "T_log1p", A},
                                 {sqrt, tir::sqrt, "T_sqrt", A},
                                 {rsqrt, tir::rsqrt, "T_rsqrt", A},
                                 {erf, tir::erf, "T_erf", A},
                                 {sigmoid, tir::sigmoid, "T_sigmoid", A},
                                 {sin, tir::sin, "T_sin", A},
                                 {cos, tir::cos, "T_cos", A},
                                 {tan, tir::tan, "T_tan", A},
                                 {asin, tir::asin, "T_asin", A},
                                 {acos, tir::acos, "T_acos", A},
                                 {atan, tir::atan, "T_atan", A},
                                 {sinh, tir::sinh, "T_sinh", A},
                                 {cosh, tir::cosh, "T_cosh", A},
                                 {tanh, tir::tanh, "T_tanh", A},
                                 {asinh, tir::asinh, "T_asinh", A},
                                 {acosh, tir::acosh, "T_acosh", A},
                                 {atanh, tir::atanh, "T_atanh", A},
                                 {floor, tir::floor, "T_floor", A},
                                 {ceil, tir::ceil, "T_ceil", A},
                                 {trunc, tir::trunc, "T_trunc", A},
                                 {round, tir::round, "T_round", A},
                                 {isnan, tir::isnan, "T_isnan", A},
                                 {isinf, tir::isinf, "T_isinf", A},
                                 {isfinite, tir::isfinite, "T_isfinite", A},
                                 {logical_not, tir::operator!, "T_logical_not", T},
                                 {bitwise_not, tir::operator~, "T_bitwise_not", I}};
  for (const Row& row : rows) {
    const te::Operation op = row.whole(row.x, row.name, SourceLocation::current()).op();
    const Expr expected = row.element(row.x({op.axis(0), op.axis(1)}));
    EXPECT_TRUE(tir::structural_equal(op.body().front(), expected)) << row.name << " " << op;
    EXPECT_EQ(op.axis(1).name() + " " + op.tag(), "ax1 elemwise") << row.name;
  }
}

TEST_F(ElementwiseTest, NamesAreThoseOfTheFunctions) {
  EXPECT_EQ(exp(A).op().name(), "T_exp");
  EXPECT_EQ(isfinite(A).op().name(), "T_isfinite");
  EXPECT_EQ(relu(A, "activation").op().name(), "activation");
}

TEST_F(ElementwiseTest, OperationsCarryTheLine) {
  EXPECT_EQ(tanh(A).op().where().line(), SourceLocation::current().line());
}

TEST_F(ElementwiseTest, ACastToItsOwnTypeIsTheTensorItself) {
  EXPECT_TRUE(cast(A, Float(32)).same_as(A));
  EXPECT_EQ(element(cast(A, Int(8))), "int8(A[ax0, ax1])");
  EXPECT_EQ(cast(A, Int(8)).op().name() + " " + cast(A, Int(8)).op().tag(), "T_cast elemwise");
}

TEST_F(ElementwiseTest, ReinterpretKeepsTheBits) {
  EXPECT_EQ(reinterpret(A, Int(32)).dtype(), Int(32));
  EXPECT_TRUE(refuses([&] { reinterpret(A, Int(64)); }, {"topi::reinterpret", "`A`", "one width"}));
}

TEST_F(ElementwiseTest, TheSignOfAnUnsignedNumberIsZeroOrOne) {
  EXPECT_EQ(element(sign(U)), "select((U[ax0, ax1] > (uint8)0), (uint8)1, (uint8)0)");
}

TEST_F(ElementwiseTest, LimitsTakeTheTensorsType) {
  EXPECT_EQ(clip(U, 3, 200).dtype(), UInt(8));
  EXPECT_EQ(relu(I).dtype(), Int(32));
  EXPECT_TRUE(refuses([&] { clip(U, 0, 256); }, {"topi::clip", "`U`", "256 does not fit uint8"}));
}

TEST_F(ElementwiseTest, FullHasNoInputs) {
  const Tensor F = full({2, 3}, Float(64), 0.1);
  EXPECT_TRUE(F.op().inputs().empty());
  EXPECT_EQ(F.op().name() + " " + F.op().tag(), "T_full elemwise");
  const auto* value = F.op().body().front().as<tir::FloatImm>();
  ASSERT_TRUE(value);
  EXPECT_EQ(value->value, 0.1);
  EXPECT_TRUE(refuses([&] { full({2}, Int(8), 200); }, {"topi::full", "int8", "200 does not fit"}));
  EXPECT_TRUE(refuses([&] { full({2}, Int(8), 1.5); }, {"topi::full", "int8", "float32"}));
}

TEST_F(ElementwiseTest, WhatExpressionsRefuseIsRefused) {
  EXPECT_TRUE(
      refuses([&] { exp(I); }, {"topi::exp `T_exp`", "tensor `I` [4, 3]", "floats", "int32"}));
  EXPECT_TRUE(refuses([&] { bitwise_not(A); }, {"topi::bitwise_not", "integers"}));
  EXPECT_TRUE(refuses([&] { logical_not(A); }, {"topi::logical_not", "`A`"}));
}

}  // namespace
}  // namespace tenon::topi
