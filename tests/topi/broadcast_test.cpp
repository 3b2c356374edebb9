// Functions of two operands: what is declared, which extents go together, types, and what is
// refused.
#include "tenon/topi/broadcast.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tenon/te/operation.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/compare.h"
#include "tests/topi/misuse.h"
#include "tests/topi/text.h"

namespace tenon::topi {
namespace {

using te::placeholder;
using tir::Expr;
using tir::Operand;
using tir::Var;

struct BroadcastTest : ::testing::Test {
  Tensor A = placeholder({4, 3}, "A"), B = placeholder({4, 3}, "B"), Row = placeholder({3}, "Row");
  Tensor I = placeholder({4, 3}, "I", Int(32)), J = placeholder({4, 3}, "J", Int(32));
  Tensor T = placeholder({4, 3}, "T", Bool()), U = placeholder({4, 3}, "U", Bool());
};

// ---- what is declared ---------------------------------------------------------------------------

TEST_F(BroadcastTest, ASumOfTensorsIsABroadcastNamedAfterItsFunction) {
  const te::Operation op = (A + B).op();
  EXPECT_EQ(op.name(), "T_add");
  EXPECT_EQ(op.tag(), "broadcast");
  EXPECT_EQ(op.axis(0).name() + " " + op.axis(1).name(), "ax0 ax1");
  EXPECT_EQ(element(op.output(0)), "(A[ax0, ax1] + B[ax0, ax1])");
}

TEST_F(BroadcastTest, ATensorWithAValueIsElementwise) {
  const Tensor C = A + 1.0f;
  EXPECT_EQ(C.op().name(), "T_add");
  EXPECT_EQ(C.op().tag(), "elemwise");
  EXPECT_EQ(element(C), "(A[ax0, ax1] + 1f)");
}

TEST_F(BroadcastTest, ValuesStandOnEitherSide) {
  EXPECT_EQ(element(1.0f - A), "(1f - A[ax0, ax1])");
  EXPECT_EQ(element(A - 1.0f), "(A[ax0, ax1] - 1f)");
  const Var x("x", Float(32));
  EXPECT_EQ(element(x / A), "(x/A[ax0, ax1])");
  EXPECT_EQ(element(A * Row(0)), "(A[ax0, ax1]*Row[0])");
}

TEST_F(BroadcastTest, OperatorsAreTheFunctions) {
  const std::vector<std::pair<Tensor, std::string>> cases = {{A + B, "T_add"},
                                                             {A - B, "T_subtract"},
                                                             {A * B, "T_multiply"},
                                                             {A / B, "T_divide"},
                                                             {-A, "T_negative"}};
  for (const auto& [tensor, name] : cases) EXPECT_EQ(tensor.op().name(), name);
  EXPECT_EQ(element(-A), "(A[ax0, ax1]*-1f)");
}

TEST_F(BroadcastTest, AGivenNameIsTheOperations) {
  EXPECT_EQ(add(A, Row, "with_bias").op().name(), "with_bias");
}

TEST_F(BroadcastTest, TheLibrarysTagStandsInAnOpenScopeToo) {
  te::TagScope scope("mine");
  EXPECT_EQ((A + B).op().tag(), "broadcast");
}

TEST_F(BroadcastTest, OperationsCarryTheLineOfTheirExpression) {
  const unsigned line = SourceLocation::current().line() + 1;
  const Tensor C = A + B * 2.0f, D = maximum(A, 0.0f);
  EXPECT_EQ(C.op().where().line(), line);
  EXPECT_EQ(C.op().inputs()[1].op().where().line(), line);
  EXPECT_EQ(D.op().where().line(), line);
  EXPECT_EQ(C.op().where().file_name(), std::string(SourceLocation::current().file_name()));
}

TEST_F(BroadcastTest, ElementsAreThoseOfTheFunctionOnExpressions) {
  struct Row {
    Tensor (*whole)(const Term&, const Term&, Name);
    Expr (*element)(const Operand&, const Operand&);
    const char* name;
    Tensor a, b;
  };
  const std::vector<Row> rows = {{add, tir::operator+, "T_add", A, B},
                                 {subtract, tir::operator-, "T_subtract", A, B},
                                 {multiply, tir::operator*, "T_multiply", A, B},
                                 {divide, tir::operator/, "T_divide", A, B},
                                 {floor_divide, tir::floordiv, "T_floor_divide", I, J},
                                 {floor_mod, tir::floormod, "T_floor_mod", I, J},
                                 {trunc_divide, tir::truncdiv, "T_trunc_divide", I, J},
                                 {trunc_mod, tir::truncmod, "T_trunc_mod", I, J},
                                 {power, tir::pow, "T_power", A, B},
                                 {minimum, tir::min, "T_minimum", A, B},
                                 {maximum, tir::max, "T_maximum", A, B},
                                 {less, tir::operator<, "T_less", A, B},
                                 {less_equal, tir::operator<=, "T_less_equal", A, B},
                                 {greater, tir::operator>, "T_greater", A, B},
                                 {greater_equal, tir::operator>=, "T_greater_equal", A, B},
                                 {equal, tir::operator==, "T_equal", A, B},
                                 {not_equal, tir::operator!=, "T_not_equal", A, B},
                                 {logical_and, tir::operator&&, "T_logical_and", T, U},
                                 {logical_or, tir::operator||, "T_logical_or", T, U},
                                 {bitwise_and, tir::operator&, "T_bitwise_and", I, J},
                                 {bitwise_or, tir::operator|, "T_bitwise_or", I, J},
                                 {bitwise_xor, tir::operator^, "T_bitwise_xor", I, J},
                                 {left_shift, tir::operator<<, "T_left_shift", I, J},
                                 {right_shift, tir::operator>>, "T_right_shift", I, J}};
  for (const Row& row : rows) {
    const te::Operation op = row.whole(row.a, row.b, row.name).op();
    const std::vector<Expr> indices{op.axis(0), op.axis(1)};
    const Expr expected = row.element(row.a(indices), row.b(indices));
    EXPECT_TRUE(tir::structural_equal(op.body().front(), expected)) << row.name << " " << op;
    EXPECT_EQ(op.output(0).dtype(), expected.dtype()) << row.name;
  }
}

TEST_F(BroadcastTest, DefaultNamesAreThoseOfTheFunctions) {
  EXPECT_EQ(floor_divide(I, J).op().name(), "T_floor_divide");
  EXPECT_EQ(logical_or(T, U).op().name(), "T_logical_or");
  EXPECT_EQ(right_shift(I, 1).op().name(), "T_right_shift");
}

// ---- extents ------------------------------------------------------------------------------------

TEST_F(BroadcastTest, MissingDimensionsRepeat) {
  EXPECT_EQ(element(A + Row), "(A[ax0, ax1] + Row[ax1])");
  EXPECT_EQ(element(Row + A), "(Row[ax1] + A[ax0, ax1])");
  EXPECT_EQ(shape(Row + A), "4 3");
}

TEST_F(BroadcastTest, ExtentsOfOneRepeatOnEitherSide) {
  const Tensor Column = placeholder({4, 1}, "Column"), Deep = placeholder({2, 1, 3}, "Deep");
  EXPECT_EQ(element(Column * Row), "(Column[ax0, 0]*Row[ax1])");
  EXPECT_EQ(shape(Column * Row), "4 3");
  EXPECT_EQ(element(Deep - Column), "(Deep[ax0, 0, ax2] - Column[ax1, 0])");
  EXPECT_EQ(shape(Deep - Column), "2 4 3");
}

TEST_F(BroadcastTest, RankZeroGoesWithEverything) {
  const Tensor S = placeholder({}, "S");
  EXPECT_EQ(element(A * S), "(A[ax0, ax1]*S[])");
  EXPECT_EQ(element(S + S), "(S[] + S[])");
  EXPECT_EQ((S + 1.0f).ndim(), 0);
}

TEST_F(BroadcastTest, NoElementsStayNone) {
  const Tensor None = placeholder({0, 3}, "None"), One = placeholder({1, 3}, "One");
  EXPECT_EQ(shape(None + One), "0 3");
}

TEST_F(BroadcastTest, SymbolicExtentsAreEqualWhereTheyAreTheSameExpression) {
  const Var n = te::size_var("n");
  const Tensor P = placeholder({n, n * 2 + 1}, "P"), Q = placeholder({n, n * 2 + 1}, "Q"),
               Thin = placeholder({1, n * 2 + 1}, "Thin");
  EXPECT_EQ(element(P + Q), "(P[ax0, ax1] + Q[ax0, ax1])");
  EXPECT_EQ(element(Thin + Q), "(Thin[0, ax1] + Q[ax0, ax1])");
  EXPECT_TRUE((Thin + Q).shape()[0].same_as(n));
}

TEST_F(BroadcastTest, AnExtentThatNeeds64BitsGivesItsTypeToTheAxis) {
  const Tensor Wide = placeholder({tir::make_const(Int(64), 4), 3}, "Wide");
  EXPECT_EQ((A + Wide).op().axis(0).var().dtype(), Int(64));
  EXPECT_EQ((Wide + A).op().axis(0).var().dtype(), Int(64));
}

TEST_F(BroadcastTest, ExtentsThatDifferAreRefused) {
  const Tensor Four = placeholder({4}, "Four");
  EXPECT_TRUE(
      refuses([&] { A + Four; }, {"topi::add `T_add`", "tensor `A` [4, 3]", "tensor `Four` [4]",
                                  "dimension 1 of `A` has extent 3",
                                  "dimension 0 of `Four` has extent 4", "1 or known to be equal"}));
  EXPECT_TRUE(refuses([&] { maximum(Four, A, "greatest"); },
                      {"topi::maximum `greatest`", "`Four`", "`A`"}));
}

TEST_F(BroadcastTest, SymbolicExtentsThatMayDifferAreRefused) {
  const Tensor P = placeholder({te::size_var("n")}, "P"), Q = placeholder({te::size_var("m")}, "Q");
  EXPECT_TRUE(
      refuses([&] { P* Q; }, {"dimension 0 of `P` has extent n", "dimension 0 of `Q` has extent m",
                              "1 or known to be equal"}));
  EXPECT_TRUE(refuses([&] { P* Row; }, {"extent n", "extent 3"}));
}

// ---- types --------------------------------------------------------------------------------------

TEST_F(BroadcastTest, LiteralsTakeTheTensorsType) {
  const Tensor I8 = placeholder({4}, "I8", Int(8)), H = placeholder({4}, "H", Float(16));
  EXPECT_EQ((I8 + 3).dtype(), Int(8));
  EXPECT_EQ((H * 2.5f).dtype(), Float(16));
  EXPECT_EQ((2 - A).dtype(), Float(32));
  EXPECT_EQ((I + 2.5f).dtype(), Float(32));
}

TEST_F(BroadcastTest, TypesArePromotedAsThoseOfExpressions) {
  const Tensor H = placeholder({3}, "H", Float(16)), F = placeholder({3}, "F", BFloat(16)),
               D = placeholder({3}, "D", Float(64)), U8 = placeholder({3}, "U8", UInt(8));
  EXPECT_EQ((A + D).dtype(), Float(64));
  EXPECT_EQ((H + F).dtype(), Float(32));
  EXPECT_EQ((I + A).dtype(), Float(32));
  EXPECT_EQ((I + U8).dtype(), Int(32));
  EXPECT_EQ((T + U).dtype(), Int(32));
  EXPECT_EQ(less(A, B).dtype(), Bool());
}

TEST_F(BroadcastTest, LiteralsThatDoNotFitAreRefused) {
  const Tensor I8 = placeholder({4}, "I8", Int(8));
  EXPECT_TRUE(refuses([&] { I8 + 300; }, {"topi::add `T_add`", "`I8`", "300 does not fit int8"}));
}

TEST_F(BroadcastTest, IntegersHaveNoSlash) {
  EXPECT_TRUE(refuses([&] { I / J; },
                      {"topi::divide `T_divide`", "`I`", "`J`", "int32", "floordiv", "truncdiv",
                       "floormod", "truncmod", "floor_divide", "trunc_divide"}));
  EXPECT_TRUE(refuses([&] { I / 2; }, {"`I`", "`2`", "floordiv"}));
}

TEST_F(BroadcastTest, WhatExpressionsRefuseIsRefused) {
  EXPECT_TRUE(refuses([&] { logical_and(A, B); }, {"topi::logical_and", "`A`", "bool"}));
  EXPECT_TRUE(refuses([&] { bitwise_xor(A, B); }, {"topi::bitwise_xor", "integers"}));
  EXPECT_TRUE(refuses([&] { left_shift(I, 32); }, {"topi::left_shift", "0 to 31"}));
  EXPECT_TRUE(refuses([&] { floor_mod(A, B); }, {"topi::floor_mod", "integers"}));
  EXPECT_TRUE(refuses([&] { floor_mod(I, 0); }, {"topi::floor_mod", "zero"}));
}

TEST_F(BroadcastTest, ATensorMustBeAmongTheOperands) {
  EXPECT_TRUE(refuses([&] { add(1.0f, 2.0f); }, {"topi::add", "at least one must be a tensor"}));
}

TEST_F(BroadcastTest, AReductionIsNoOperand) {
  const te::IterVar k = te::reduce_axis({0, 3}, "k");
  EXPECT_TRUE(refuses([&] { Row + te::sum(Row(k), {k}); }, {"`T_add`", "reduction"}));
}

// ---- broadcast_to -------------------------------------------------------------------------------

TEST_F(BroadcastTest, BroadcastToRepeats) {
  const Tensor Column = placeholder({4, 1}, "Column");
  const Tensor C = broadcast_to(Column, {2, 4, 3});
  EXPECT_EQ(C.op().name() + " " + C.op().tag(), "T_broadcast_to broadcast");
  EXPECT_EQ(shape(C), "2 4 3");
  EXPECT_EQ(element(C), "Column[ax1, 0]");
}

TEST_F(BroadcastTest, BroadcastToNeverShrinks) {
  EXPECT_TRUE(refuses([&] { broadcast_to(A, {4}); },
                      {"topi::broadcast_to", "`A`", "1 dimension", "has 2"}));
  EXPECT_TRUE(refuses(
      [&] {
        broadcast_to(A, {4, 1});
      },
      {"topi::broadcast_to", "dimension 1 of `A` has extent 3", "dimension 1 of the shape 1"}));
  tir::Expr gone = te::size_var("n");
  const tir::Expr kept = std::move(gone);
  EXPECT_TRUE(refuses([&] { broadcast_to(Row, {gone, 3}); }, {"extent 0", "moved from"}));
  EXPECT_TRUE(refuses([&] { broadcast_to(Row, {-2, 3}); }, {"T_broadcast_to", "negative"}));
}

}  // namespace
}  // namespace tenon::topi
