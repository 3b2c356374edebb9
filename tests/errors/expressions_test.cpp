// Wrong expressions: types, literals, operators, and what a C++ program can do to handles.
#include <gtest/gtest.h>

#include <cmath>

#include "tenon/tir/expr.h"
#include "tests/common/refusal.h"

namespace tenon::testing {
namespace {

using te::Expr;

struct ExpressionTest : ::testing::Test {
  Var i{"i"}, n{"n"};
  Var x{"x", Float(32)};
  te::Tensor A = te::placeholder({8, 6}, "A");
  te::Tensor I = te::placeholder({8}, "I", Int(32));

  void refused(const std::function<void()>& expression, const std::vector<std::string>& parts,
               SourceLocation where = SourceLocation::current()) {
    EXPECT_TRUE(refuses<TypeError>(expression, parts, where)) << where.line();
  }
};

// An expression is no truth value of C++, so that `if (a == b)` does not compile.
static_assert(!std::is_constructible_v<bool, Expr>);

TEST_F(ExpressionTest, ConstantsFitTheirType) {
  refused([&] { make_const(Int(8), 300); }, {"300", "int8"});
  refused([&] { make_const(UInt(8), -1); }, {"-1", "uint8"});
  refused([&] { make_const(Int(32), 2.5); }, {"2.5", "int32"});
  refused([&] { make_const(Int(64), 1e30); }, {"int64"});
  refused([&] { make_const(Int(32), std::nan("")); }, {"nan", "int32"});
  refused([&] { make_const(Int(64), ~std::uint64_t{0}); }, {"18446744073709551615", "int64"});
  refused([&] { make_const(Handle(), 1); }, {"handle"});
  refused([&] { cast(Int(8), i) + 300; }, {"300", "int8"});
  refused([&] { select(i < n, cast(UInt(8), i), 256); }, {"256", "uint8"});
  refused([&] { if_then_else(i < n, cast(Int(8), i), 1000); }, {"1000", "int8"});
  refused([&] { max(cast(Int(8), i), 1000); }, {"1000", "int8"});
  refused([&] { cast(Int(8), i) < 300; }, {"300", "int8"});
  refused([&] { make_const(Bool(), 2); }, {"2", "bool"});
}

TEST_F(ExpressionTest, FiniteConstantsDoNotBecomeInfinite) {
  const Var h("h", Float(16)), b("b", BFloat(16));
  refused([&] { make_const(Float(16), 70000); }, {"70000", "float16", "infinity"});
  refused([&] { make_const(Float(32), 1e300); }, {"1e+300", "float32"});
  refused([&] { make_const(Float(16, 4), 1e30); }, {"1e+30", "float16"});
  refused([&] { h * 1e30; }, {"1e+30", "float16"});
  refused([&] { h + 70000; }, {"70000", "float16"});
  refused([&] { b + 3.4e38; }, {"3.4e+38", "bfloat16"});
  refused([&] { x + 1e300; }, {"1e+300", "float32"});
  refused([&] { Expr(1e300); }, {"1e+300", "float32"});
  // A value that rounds to the greatest one fits, and infinity may be given as such.
  for (DataType type : {Float(16), BFloat(16), Float(32), Float(64)}) {
    const double greatest = max_value(type).as<tir::FloatImm>()->value;
    EXPECT_NO_THROW(make_const(type, greatest)) << type.str();
    EXPECT_NO_THROW(make_const(type, -INFINITY)) << type.str();
  }
  EXPECT_NO_THROW(x + 3.40282347e+38);
  EXPECT_NO_THROW(h + 65519);
}

TEST_F(ExpressionTest, SizesAreIntegers) {
  refused([&] { te::size_var("n", Float(32)); }, {"size_var `n`", "integer", "float32"});
  refused([&] { te::size_var("n", Bool()); }, {"size_var `n`", "bool"});
  refused([&] { te::size_var("n", Int(32, 4)); }, {"size_var `n`", "int32x4"});
}

TEST_F(ExpressionTest, LimitsOfTypesThatHaveNone) {
  refused([&] { min_value(Handle()); }, {"handle"});
  refused([&] { max_value(Handle()); }, {"handle"});
  refused([&] { infinity(Int(32)); }, {"int32"});
}

TEST_F(ExpressionTest, TypesThatDoNotExist) {
  refused([&] { Float(24); }, {"float24"});
  refused([&] { Int(1); }, {"int1"});
  refused([&] { UInt(128); }, {"uint128"});
  refused([&] { BFloat(32); }, {"bfloat32"});
  refused([&] { Float(32, 0); }, {"lanes", "0"});
  refused([&] { Float(32, -4); }, {"lanes", "-4"});
  refused([&] { DataType::parse("float32x0"); }, {"lanes", "0"});
  refused([&] { Float(32, 65536); }, {"lanes", "65536"});
  for (const char* text : {"", "float", "float32x", "int32y4", "float32x99999999999", "x4"})
    refused([&] { DataType::parse(text); }, {text});
  const char* const null = nullptr;
  refused([&] { DataType::parse(null); }, {"null pointer"});
}

TEST_F(ExpressionTest, DivisionSaysHowItRounds) {
  refused([&] { i / n; }, {"`/`", "int32", "floordiv", "truncdiv"});
  refused([&] { i % n; }, {"`%`", "floormod", "truncmod"});
  refused([&] { floordiv(i, 0); }, {"floordiv", "zero"});
  refused([&] { truncmod(i, make_const(Int(32), 0)); }, {"truncmod", "zero"});
  refused([&] { floormod(x, 2.0f); }, {"floormod", "float32"});
  refused([&] { truncdiv(x, x); }, {"truncdiv", "float32"});
  refused([&] { floordiv(i, 2.5); }, {"floordiv", "float32"});
  refused([&] { ceildiv(i, 0); }, {"ceildiv", "zero"});
  refused([&] { ceildiv(x, 2); }, {"ceildiv", "float32"});
  const Var four("four", Int(32, 4));
  refused([&] { floormod(four, make_const(Int(32, 4), 0)); }, {"floormod", "zero"});
  refused([&] { div(i, n); }, {"`/`", "floordiv"});
}

TEST_F(ExpressionTest, BitsAreOfIntegers) {
  refused([&] { i << 32; }, {"shift", "0 to 31", "32"});
  refused([&] { i >> -1; }, {"shift", "-1"});
  refused([&] { x & 1; }, {"bitwise_and", "float32"});
  refused([&] { x << 1; }, {"shift_left", "float32"});
  refused([&] { ~x; }, {"`~`", "float32"});
  refused([&] { popcount(x); }, {"popcount", "float32"});
  refused([&] { clz(x); }, {"clz", "float32"});
  refused([&] { popcount(i < n); }, {"popcount", "bool"});
  refused([&] { clz(i < n); }, {"clz", "bool"});
  refused([&] { cast(Int(8), i) << 8; }, {"shift", "int8", "0 to 7", "8"});
  refused([&] { (i < n) << 1; }, {"shift", "bool"});
}

TEST_F(ExpressionTest, ConditionsAreBool) {
  refused([&] { if_then_else(i, 1, 2); }, {"if_then_else", "bool", "int32"});
  refused([&] { select(i, 1, 2); }, {"select", "bool", "int32"});
  refused([&] { i && (i < n); }, {"`&&`", "bool", "int32"});
  refused([&] { all(i < n, x); }, {"bool", "float32"});
  refused([&] { any(i<n, i> 2, n); }, {"bool", "int32"});
  refused([&] { !i; }, {"bool", "int32"});
}

TEST_F(ExpressionTest, MathematicsIsOnFloats) {
  refused([&] { exp(i); }, {"exp", "int32"});
  refused([&] { pow(i, 2); }, {"pow", "int32"});
  refused([&] { fmod(i, n); }, {"fmod", "int32"});
  refused([&] { sqrt(i < n); }, {"sqrt", "bool"});
  refused([&] { ldexp(i, 2); }, {"ldexp", "int32"});
  refused([&] { ldexp(x, 2.5); }, {"ldexp", "exponent", "integer", "float32"});
  refused([&] { fma(i, i, i); }, {"fma", "int32"});
  refused([&] { nextafter(Var("h", Float(16)), 1); }, {"nextafter", "float32", "float16"});
  refused([&] { erf(Var("p", Handle())); }, {"erf", "handle"});
  const Var four("four", Float(32, 4)), eight("eight", Float(32, 8));
  refused([&] { pow(four, eight); }, {"float32x4", "float32x8"});
}

TEST_F(ExpressionTest, CallsOfIntrinsics) {
  refused([&] { call_intrin(Float(32), intrin::exp); }, {"`exp`", "expected 1", "got 0"});
  refused([&] { call_intrin(Float(32), intrin::pow, x); }, {"`pow`", "expected 2", "got 1"});
  refused([&] { call_intrin(Float(32), intrin::exp, i); }, {"`exp`", "floats", "int32"});
  refused([&] { call_intrin(Float(16), intrin::exp, x); },
          {"`exp`", "float16", "x of type float32"});
  refused([&] { call_intrin(Int(32), intrin::popcount, x); },
          {"`popcount`", "integers", "float32"});
  refused([&] { call_intrin(Int(32), intrin::shift_left, i); },
          {"`shift_left`", "expected 2", "got 1"});
  refused([&] { call_intrin(Int(32), intrin::if_then_else, i, 1, 2); },
          {"`if_then_else`", "bool", "int32"});
  refused([&] { call_intrin(Float(32), intrin::isnan, x); }, {"`isnan`", "bool", "float32"});
  refused([&] { call_intrin(Int(64), intrin::reinterpret, x); }, {"`reinterpret`", "same width"});
  refused([&] { call_intrin(Int(32), intrin::call_llvm_intrin, "llvm.x"); },
          {"at least 2", "got 1"});
  refused([&] { call_intrin(Int(32), intrin::ret, 1, 2); }, {"`ret`", "expected 1", "got 2"});
}

TEST_F(ExpressionTest, CallsOfFunctions) {
  const char* const null = nullptr;
  refused([&] { call_extern(Int(32), ""); }, {"call_extern", "no name"});
  refused([&] { call_extern(Int(32), null); }, {"null pointer"});
  refused([&] { call_extern(Int(32), "f", null); }, {"null pointer"});
  refused([&] { call_pure_extern(Float(24), "f", 1); }, {"float24"});
}

TEST_F(ExpressionTest, PointersAreNoNumbers) {
  Var p("p", Handle());
  refused([&] { p + 1; }, {"handle"});
  refused([&] { p < p; }, {"handle"});
  refused([&] { -p; }, {"handle"});
  refused([&] { cast(Int(64), p); }, {"handle", "reinterpret"});
  refused([&] { cast(Handle(), i); }, {"handle"});
  refused([&] { abs(p); }, {"handle"});
  refused([&] { floor(p); }, {"handle"});
  refused([&] { likely(p); }, {"handle", "bool"});
}

TEST_F(ExpressionTest, VectorsOfOneLength) {
  Var four("four", Float(32, 4)), eight("eight", Float(32, 8));
  refused([&] { four + eight; }, {"float32x4", "float32x8"});
  refused([&] { cast(Int(32, 8), four); }, {"float32x4", "int32x8"});
  refused([&] { cast(Int(32), four); }, {"float32x4", "int32"});
  refused([&] { select(cast(Int(32, 8), i) < 3, four, four); }, {"8", "4"});
  refused([&] { reinterpret(Int(32), four); }, {"reinterpret", "float32x4"});
}

TEST_F(ExpressionTest, Reads) {
  refused([&] { A(1); }, {"`A`", "2 dimensions", "1 index"});
  refused([&] { A(1, 2, 3); }, {"`A`", "2 dimensions", "3 indices"});
  refused([&] { A(); }, {"`A`", "0 indices"});
  refused([&] { A(x, 1); }, {"`A`", "index 0", "integer", "float32"});
  refused([&] { A(1, 2.5f); }, {"`A`", "index 1", "float32"});
  refused([&] { A(i < 3, 1); }, {"`A`", "index 0", "bool"});
  refused([&] { A(true, 1); }, {"`A`", "index 0", "bool"});
  refused([&] { A(std::int64_t{1} << 40, 1); }, {"1099511627776", "int32"});
  refused([&] { te::placeholder({}, "S")(0); }, {"`S`", "0 dimensions", "1 index"});
  refused([&] { A.region({x, 0}); }, {"`A`", "integer"});
  refused([&] { A(Var("v", Int(32, 4)), 1); }, {"`A`", "only the last index", "int32x4"});
  refused([&] { A(std::vector<Expr>{i}); }, {"`A`", "1 index"});
  refused([&] { A.region({i}); }, {"`A`", "2 dimensions", "1"});
  refused([&] { A.region({x, Range(0, 4)}); }, {"`A`", "integer"});
  refused([&] { A.op().output(1); }, {"`A`", "1"});
}

TEST_F(ExpressionTest, Ranges) {
  refused([&] { Range(i, x); }, {"integer"});
  refused([&] { Range(-2147483647, 2147483647); }, {"more points", "int32"});
  refused([&] { te::reduce_axis({0, 2.5f}, "k"); }, {"range", "integers", "float32"});
  refused([&] { te::reduce_axis({0, i < 3}, "k"); }, {"range", "integers", "bool"});
  refused([&] { te::reduce_axis({0, Var("p", Handle())}, "k"); }, {"range", "integers", "handle"});
  refused(
      [&] {
        te::reduce_axis({0, te::sum(I(i), {te::reduce_axis({0, 4}, "r")})}, "k");
      },
      {"`k`", "reduction"});
  refused([&] { te::reduce_axis({5, 0}, "k"); }, {"`k`", "5"});
  refused([&] { te::thread_axis({1, 9}, "threadIdx.x"); }, {"threadIdx.x", "begin at 0"});
  refused([&] { te::thread_axis({0, -4}, "threadIdx.x"); }, {"threadIdx.x", "-4"});
  refused(
      [&] {
        te::thread_axis({0, std::int64_t{1} << 40}, "threadIdx.x");
      },
      {"threadIdx.x", "1099511627776"});
  refused([&] { te::thread_axis(Range::from_min_extent(0, x), "threadIdx.x"); },
          {"threadIdx.x", "float32"});
  EXPECT_TRUE(refuses<ScheduleError>([&] { te::thread_axis("foo.x"); }, {"foo.x", "threadIdx"}));
  EXPECT_TRUE(refuses<ScheduleError>([&] { te::thread_axis(""); }, {"threadIdx"}));
  EXPECT_TRUE(refuses<ScheduleError>([&] { te::thread_axis("threadIdx.w"); }, {"threadIdx.w"}));
}

// ---- handles that were moved from ---------------------------------------------------------------

TEST_F(ExpressionTest, WhatHasBeenMovedFrom) {
  Expr e = i + 1;
  Expr taken = std::move(e);
  refused([&] { e + 1; }, {"moved from"});
  refused([&] { A(e, 1); }, {"moved from"});
  refused([&] { cast(Int(64), e); }, {"moved from"});
  refused([&] { te::placeholder({4, e}, "P"); }, {"moved from"});
  refused(
      [&] {
        te::compute(
            {4}, {"i"}, [&](Var) { return e; }, "P");
      },
      {"moved from"});
  refused([&] { A.region({e, 1}); }, {"moved from"});
  refused([&] { call_extern(Int(32), "f", e); }, {"moved from"});
  refused([&] { Range(0, e); }, {"moved from"});
  EXPECT_EQ(tir::print_expr(taken), "(i + 1)");
}

TEST_F(ExpressionTest, AHandleThatHasBeenMovedFromIsNoTrap) {
  Expr e = i + 1;
  const Expr taken = std::move(e);
  EXPECT_TRUE(e.is_moved_from());
  EXPECT_FALSE(taken.is_moved_from());
  EXPECT_EQ(e.dtype(), Handle());
  EXPECT_FALSE(e.same_as(taken));
  EXPECT_FALSE(tir::print_expr(e).empty());
  EXPECT_TRUE(arith::simplify(e).is_moved_from());
  e = taken;
  EXPECT_TRUE(e.same_as(taken));
  Expr& self = e;
  e = std::move(self);
  EXPECT_TRUE(e.same_as(taken));
}

TEST_F(ExpressionTest, OtherHandlesStayWhatTheyAreWhenMovedFrom) {
  te::Tensor B = te::compute(
      {8}, {"i"}, [&](Var v) { return I(v) + 1; }, "B");
  te::Schedule s = te::create_schedule(B);
  te::Stage stage = s[B];
  te::Tensor other = std::move(B);
  te::Schedule other_schedule = std::move(s);
  te::Stage other_stage = std::move(stage);
  Var other_variable = std::move(i);
  EXPECT_EQ(B.name(), other.name());
  EXPECT_EQ(s.stages().size(), 2u);
  EXPECT_EQ(stage.name(), "B");
  EXPECT_EQ(i.name(), "i");
  runtime::NDArray a = runtime::NDArray::zeros({2}, Float(32)), b = std::move(a);
  EXPECT_EQ(a.shape(), b.shape());
}

}  // namespace
}  // namespace tenon::testing
