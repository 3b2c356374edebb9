// Elementwise functions and reductions: what is declared, and what is refused.
#include "tenon/topi/elementwise.h"

#include <gtest/gtest.h>

#include <sstream>

#include "tenon/te/operation.h"
#include "tenon/te/reduce.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"
#include "tenon/topi/broadcast.h"
#include "tenon/topi/reduction.h"
#include "tests/topi/misuse.h"
#include "tests/topi/text.h"

namespace tenon::topi {
namespace {

// ---- functions of one tensor --------------------------------------------------------------------

// Functions of one tensor: what is declared, and what is refused.

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

TEST_F(ElementwiseTest, TheSignOfNanIsNan) {
  EXPECT_EQ(element(sign(A)),
            "select((A[ax0, ax1] > 0f), 1f, select((A[ax0, ax1] < 0f), -1f, A[ax0, ax1]))");
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

// ---- functions of two operands ------------------------------------------------------------------

// Functions of two operands: what is declared, which extents go together, types, and what is
// refused.

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

// ---- reductions ---------------------------------------------------------------------------------

// Reductions of whole dimensions: what is declared, and what is refused.

/// "k0 k2"
std::string reduced(const Tensor& t) {
  std::string text;
  for (const te::IterVar& axis : t.op().reduce_axis())
    text += (text.empty() ? "" : " ") + axis.name();
  return text;
}

struct ReductionTest : ::testing::Test {
  Tensor A = placeholder({2, 3, 4}, "A"), T = placeholder({2, 3}, "T", Bool()),
         S = placeholder({}, "S");
};

TEST_F(ReductionTest, IsNamedAndTaggedAsTheReferenceDoes) {
  const te::Operation op = sum(A, {1}).op();
  EXPECT_EQ(op.name() + " " + op.tag(), "A_red comm_reduce");
  EXPECT_EQ(op.axis(0).name() + " " + op.axis(1).name(), "ax0 ax1");
  EXPECT_EQ(sum(A, {1}, {.name = "total"}).op().name(), "total");
}

TEST_F(ReductionTest, LeavesTheListedDimensionsOut) {
  EXPECT_EQ(shape(sum(A, {1})) + " / " + reduced(sum(A, {1})), "2 4 / k1");
  EXPECT_EQ(shape(max(A, {2, 0})) + " / " + reduced(max(A, {2, 0})), "3 / k0 k2");
  EXPECT_EQ(shape(min(A, {-1})) + " / " + reduced(min(A, {-1})), "2 3 / k2");
}

TEST_F(ReductionTest, NoneListedAreAll) {
  EXPECT_EQ(prod(A).ndim(), 0);
  EXPECT_EQ(reduced(prod(A)), "k0 k1 k2");
}

TEST_F(ReductionTest, KeepsThemWithExtentOne) {
  EXPECT_EQ(shape(sum(A, {1}, {.keepdims = true})), "2 1 4");
  EXPECT_EQ(shape(argmax(A, {}, {.keepdims = true})), "1 1 1");
}

TEST_F(ReductionTest, PositionsAreTwoOperations) {
  const te::Operation op = argmin(A, {2}, {.name = "least"}).op(), pairs = op.inputs().front().op();
  EXPECT_EQ(op.name() + " " + op.tag(), "least comm_reduce_idx");
  EXPECT_EQ(pairs.name() + " " + pairs.tag(), "least_temp comm_reduce_idx");
  EXPECT_EQ(op.output(0).dtype(), Int(32));
  EXPECT_EQ(pairs.output(1).dtype(), Float(32));
}

TEST_F(ReductionTest, PositionsInDimensionsOf64BitsHave64Bits) {
  const Tensor Wide = placeholder({tir::make_const(Int(64), 5)}, "Wide");
  EXPECT_EQ(argmax(Wide).dtype(), Int(64));
  EXPECT_EQ(argmax(placeholder({65536, 65536}, "Big")).dtype(), Int(64));
  EXPECT_EQ(argmax(placeholder({65536, 65536}, "Big"), {0}).dtype(), Int(32));
}

TEST_F(ReductionTest, ThePositionWithoutATermIsZero) {
  for (const DataType type : {Float(32), Int(32)})
    EXPECT_EQ(element(argmax(placeholder({4, 0}, "Empty", type), {1})),
              "select((Empty_red_temp.v0[ax0] == 2147483647), 0, Empty_red_temp.v0[ax0])");
}

TEST_F(ReductionTest, OperationsCarryTheLine) {
  const Tensor B = argmax(A, {1});
  EXPECT_EQ(B.op().where().line(), SourceLocation::current().line() - 1);
  EXPECT_EQ(B.op().inputs()[0].op().where().line(), SourceLocation::current().line() - 2);
}

TEST_F(ReductionTest, DimensionsThatAreNotThereAreRefused) {
  EXPECT_TRUE(
      refuses([&] { sum(A, {3}); }, {"topi::sum `A_red`", "tensor `A` [2, 3, 4]", "axis 3"}));
  EXPECT_TRUE(refuses([&] { max(A, {-4}); }, {"topi::max", "axis -4"}));
  EXPECT_TRUE(refuses([&] { min(A, {1, -2}); }, {"topi::min", "dimension 1 is listed twice"}));
  EXPECT_TRUE(refuses([&] { sum(S); }, {"topi::sum", "`S`", "rank 0"}));
}

TEST_F(ReductionTest, TermsMustFit) {
  EXPECT_TRUE(refuses([&] { all(A, {0}); }, {"topi::all `A_red`", "Bool", "float32"}));
  EXPECT_TRUE(refuses([&] { argmax(T, {0}); }, {"topi::argmax", "`T`", "bool"}));
  EXPECT_TRUE(refuses([&] { sum(T, {0}); }, {"`T_red`", "use all or any"}));
  EXPECT_EQ(any(T, {0}).dtype(), Bool());
}

}  // namespace
}  // namespace tenon::topi
