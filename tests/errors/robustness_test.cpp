// Programs of unusual size: expressions as deep as memory allows, shared a million times, and
// integers that only uint64 holds.
#include <gtest/gtest.h>

#include <sstream>

#include "tenon/interp/evaluate.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/parse.h"
#include "tenon/tir/walk.h"
#include "tests/common/refusal.h"
#include "tests/common/sanitized.h"

namespace tenon::testing {
namespace {

using runtime::NDArray;
using te::Expr;

constexpr int kTerms = kIsThreadSanitized ? 1'000 : 100'000;
constexpr int kLevels = kIsThreadSanitized ? 500 : 5'000;

/// a + 1 + 1 + ..., written one after the other.
template <class T>
Expr long_sum(Expr a, T term) {
  for (int n = 0; n < kTerms; ++n) a = a + term;
  return a;
}

TEST(DeepExpressionTest, IsMadeAndDestroyed) {
  Var x("x", Float(32));
  for (int round = 0; round < 3; ++round) {
    Expr e = long_sum(x, x);
    Expr other = e;
  }
}

TEST(DeepExpressionTest, IsDestroyedWhateverItIsMadeOf) {
  Var x("x");
  te::Tensor I = te::placeholder({8}, "I", Int(32));
  const std::vector<std::function<Expr(const Expr&)>> steps = {
      [](const Expr& e) { return cast(e.dtype() == Int(32) ? Int(64) : Int(32), e); },
      [&](const Expr& e) { return select(x < 3, e, x); },
      [&](const Expr& e) { return if_then_else(x < 3, e, x); },
      [&](const Expr& e) { return I(e); },
      [&](const Expr& e) { return tir::make_let(x, e, e); },
      [&](const Expr& e) { return call_extern(Int(32), "f", e, x); },
  };
  for (const auto& step : steps) {
    Expr e = x;
    for (int n = 0; n < kTerms; ++n) e = step(e);
  }
}

TEST(DeepExpressionTest, Prints) {
  Var x("x", Float(32));
  const Expr e = long_sum(x, x);
  // An opening parenthesis, " + x" and a closing one for each term.
  const std::size_t length = 1 + static_cast<std::size_t>(kTerms) * 6;
  EXPECT_EQ(tir::print_expr(e).size(), length);
  EXPECT_EQ(tir::print_legacy(e).size(), length);
  std::ostringstream out;
  out << e;
  EXPECT_EQ(out.str().size(), length + std::string(": float32").size());
}

TEST(DeepExpressionTest, IsParsedComparedAndEvaluated) {
  const Expr e = long_sum(Expr(0) + Var("x") * 0, Var("y")), one = long_sum(Var("z", Int(32)), 1);
  EXPECT_FALSE(tir::structural_equal(e, long_sum(Var("x"), Var("y"))));
  EXPECT_EQ(tir::evaluate_int(one, [](const Var&) { return 5; }), kTerms + 5);
  EXPECT_EQ(tir::free_vars(one).size(), 1u);
  EXPECT_TRUE(tir::structural_equal(
      tir::parse_expr(tir::print_expr(Expr(long_sum(Expr(1), Expr(1))))), Expr(kTerms + 1)));
  std::string nested(static_cast<std::size_t>(kTerms), '!');
  EXPECT_EQ(tir::print_expr(tir::parse_expr(nested + "True")).size(), nested.size() + 4);
}

TEST(DeepExpressionTest, IsComputed) {
  te::Tensor A = te::placeholder({4}, "A");
  te::Tensor B = te::compute(
      {4}, {"i"}, [&](Var i) { return long_sum(A(i), A(i)); }, "B");
  std::ostringstream out;
  out << B.op();
  EXPECT_GT(out.str().size(), static_cast<std::size_t>(kTerms));
  te::Tensor C = te::compute(
      {4}, {"i"}, [&](Var i) { return B(i) + 1.0f; }, "C");
  te::Schedule s = te::create_schedule(C);
  s.cache_write(C, "local");
  s.cache_read(A, "local", {B});
  s[B].compute_inline();
  const tir::IRModule module = lower(s, {A, C}, {.simple_mode = true});
  out << module;
}

TEST(DeepExpressionTest, Runs) {
  te::Tensor A = te::placeholder({4}, "A", Int(32));
  te::Tensor B = te::compute(
      {4}, {"i"},
      [&](Var i) {
        Expr e = A(i);
        for (int n = 0; n < kLevels; ++n) e = (e ^ n) + A(i);
        return e;
      },
      "B");
  runtime::Module mod = build(te::create_schedule(B), {A, B}, Target("llvm"), {.opt_level = 0});
  NDArray a = NDArray::full({4}, Int(32), 3), b = NDArray::zeros({4}, Int(32));
  mod["main"](a, b);
  std::int32_t expected = 3;
  for (int n = 0; n < kLevels; ++n) expected = (expected ^ n) + 3;
  EXPECT_EQ(b.data<std::int32_t>()[3], expected);
}

TEST(DeepProgramTest, OfTheIrBuilder) {
  tir::IRBuilder ib;
  Var x("x");
  for (int n = 0; n < kTerms; ++n) x = ib.let("x", x + 1);
  ib.emit(call_extern(Int(32), "f", x));
  tir::Stmt program = ib.get();
  EXPECT_GT(tir::print_stmt(program).size(), static_cast<std::size_t>(kTerms));
  EXPECT_EQ(tir::free_vars(program).size(), 1u);
}

TEST(SharedExpressionTest, ThatIsTooLongWrittenOutIsRefused) {
  te::Tensor A = te::placeholder({4}, "A");
  auto doubled = [&](Var i) {
    Expr e = A(i);
    for (int n = 0; n < 60; ++n) e = e + e;
    return e;
  };
  EXPECT_TRUE(refuses<TypeError>([&] { te::compute({4}, {"i"}, doubled, "B"); },
                                 {"compute `B`", "tensors of their own"}));
}

TEST(SharedExpressionTest, SharedChoicesAreRefusedToo) {
  te::Tensor A = te::placeholder({4}, "A");
  auto chosen = [&](Var i) {
    Expr e = A(i);
    for (int n = 0; n < 60; ++n) e = tir::select(e < 5.0f, e, e + 1.0f);
    return e;
  };
  EXPECT_TRUE(
      refuses<TypeError>([&] { te::compute({4}, {"i"}, chosen, "B"); }, {"tensors of their own"}));
}

TEST(SharedExpressionTest, PositionsAreWidenedOnce) {
  Var n("n", Int(8));
  Expr e = n;
  for (int level = 0; level < 60; ++level) e = tir::select(e < 5, e, e + e);
  EXPECT_EQ(tir::as_index(e).dtype(), Int(32));
}

TEST(SharedExpressionTest, PrintsSomeOfIt) {
  Var x("x");
  Expr e = x;
  for (int n = 0; n < 60; ++n) e = e + e;
  EXPECT_NE(tir::print_expr(e).find("..."), std::string::npos);
  EXPECT_NE(tir::print_legacy(e).find("..."), std::string::npos);
  EXPECT_TRUE(refuses<TypeError>([&] { e / 2; }, {"`/`", "floordiv"}));
}

// ---- uint64 above int64 -------------------------------------------------------------------------

constexpr std::uint64_t kBig = (std::uint64_t{1} << 63) + 5;
constexpr std::uint64_t kLargest = ~std::uint64_t{0};

TEST(LargeUnsignedTest, LiteralsKeepTheirValue) {
  Var x("x", UInt(64));
  EXPECT_EQ(tir::print_expr(make_const(UInt(64), kBig)), "9223372036854775813u64");
  EXPECT_EQ(tir::print_expr(Expr(kBig)), "9223372036854775813u64");
  EXPECT_EQ(tir::print_expr(x + kBig), "(x + 9223372036854775813u64)");
  EXPECT_EQ(tir::print_expr(make_const(UInt(64), 9223372036854775808.0)), "9223372036854775808u64");
  EXPECT_EQ(tir::print_legacy(Expr(kLargest)), "(uint64)18446744073709551615");
  EXPECT_TRUE(
      refuses<TypeError>([&] { Var("y", Int(64)) + kBig; }, {"9223372036854775813", "int64"}));
}

TEST(LargeUnsignedTest, TextIsReadBack) {
  for (std::uint64_t value : {kBig, kLargest, std::uint64_t{1} << 63, kBig >> 1}) {
    const Expr e = make_const(UInt(64), value);
    EXPECT_TRUE(tir::structural_equal(tir::parse_expr(tir::print_expr(e)), e)) << value;
  }
  EXPECT_THROW(tir::parse_expr("18446744073709551616u64"), TypeError);
  EXPECT_THROW(tir::parse_expr("9223372036854775808i64"), TypeError);
}

TEST(LargeUnsignedTest, FoldingIsThatOfCpp) {
  const std::vector<std::uint64_t> values = {0, 1, 5, kBig >> 1, kBig, kLargest};
  auto constant = [](std::uint64_t value) { return make_const(UInt(64), value); };
  auto expect = [&](const Expr& folded, const Expr& expected) {
    EXPECT_TRUE(tir::structural_equal(folded, expected))
        << tir::print_expr(folded) << " is no " << tir::print_expr(expected);
  };
  for (std::uint64_t a : values)
    for (std::uint64_t b : values) {
      const Expr x = constant(a), y = constant(b);
      expect(x + y, constant(a + b));
      expect(x - y, constant(a - b));
      expect(x * y, constant(a * b));
      expect(min(x, y), constant(std::min(a, b)));
      expect(x < y, Expr(a < b));
      expect(x >= y, Expr(a >= b));
      expect(x & y, constant(a & b));
      expect(x ^ y, constant(a ^ b));
      expect(x >> 3, constant(a >> 3));
      if (b == 0) continue;
      expect(floordiv(x, y), constant(a / b));
      expect(truncmod(x, y), constant(a % b));
    }
}

TEST(LargeUnsignedTest, Simplified) {
  Var x("x", UInt(64));
  for (std::uint64_t value : {std::uint64_t{3}, kBig, kLargest})
    for (const Expr& e :
         {x + kBig < kBig, max(x + kBig, kLargest), floordiv(x * kBig, kBig), x - kBig + kBig,
          select(x >= kBig, x - kBig, x), floormod(x + kLargest, kBig)}) {
      auto of_x = [&](const Var&) { return static_cast<std::int64_t>(value); };
      EXPECT_EQ(tir::evaluate_int(arith::simplify(e), of_x), tir::evaluate_int(e, of_x))
          << tir::print_expr(e) << " at " << value;
    }
}

TEST(LargeUnsignedTest, Runs) {
  te::Tensor A = te::placeholder({4}, "A", UInt(64));
  te::Tensor B = te::compute(
      {4}, {"i"},
      [&](Var i) {
        return select(A(i) > kBig, floordiv(A(i), 3), A(i) + kBig) + make_const(UInt(64), kBig);
      },
      "B");
  runtime::Module mod = build(te::create_schedule(B), {A, B}, Target("llvm"), {.opt_level = 1});
  const std::vector<std::uint64_t> values = {0, 7, kBig, kLargest};
  NDArray a = NDArray::from(values, {4}), b = NDArray::zeros({4}, UInt(64));
  mod["main"](a, b);
  for (std::size_t n = 0; n < 4; ++n)
    EXPECT_EQ(b.data<std::uint64_t>()[n],
              (values[n] > kBig ? values[n] / 3 : values[n] + kBig) + kBig);
}

}  // namespace
}  // namespace tenon::testing
