#include "lower/passes.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "pass_text.h"
#include "tenon/interp/evaluate.h"
#include "tenon/support/float16.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/verify.h"

namespace tenon::lowering {
namespace {

using namespace tir;
using test::normalized;

struct Program {
  Buffer a, b;
  Var i{"i"};
  PrimFunc func;
};

/// for i: B[i] = value(A[i]).
template <class F>
Program program(DataType from, DataType to, int size, F value) {
  const Buffer a = decl_buffer({size}, from, {.name = "A"}),
               b = decl_buffer({size}, to, {.name = "B"});
  const Var i("i");
  const Var pa("A", Handle()), pb("B", Handle());
  const Stmt body = make_stmt(For{i, 0, size, ForKind::Serial, make_store(b, value(a({i})), {i})});
  return {a, b, i, PrimFunc{.params = {pa, pb}, .buffers = {{pa, a, a}, {pb, b, b}}, .body = body}};
}

TEST(LegalizeBfloat16, TheReferencesForm) {
  const Program p = program(BFloat(), BFloat(), 8, [](const Expr& x) { return x + x; });
  EXPECT_EQ(
      test::body_text(legalize_bfloat16(p.func, {})),
      normalized(
          R"(
for (i: int32, 0, 8) {
)"
          "  B[i] = cast(uint16, "
          "@tir.shift_right((@tir.reinterpret((@tir.reinterpret(@tir.shift_left(cast(uint32, A[i]), "
          "16u32, dtype=uint32), dtype=float32) + @tir.reinterpret(@tir.shift_left(cast(uint32, "
          "A[i]), 16u32, dtype=uint32), dtype=float32)), dtype=uint32) + "
          "(@tir.bitwise_and(@tir.shift_right(@tir.reinterpret((@tir.reinterpret(@tir.shift_left(cast("
          "uint32, A[i]), 16u32, dtype=uint32), dtype=float32) + "
          "@tir.reinterpret(@tir.shift_left(cast(uint32, A[i]), 16u32, dtype=uint32), "
          "dtype=float32)), dtype=uint32), 16u32, dtype=uint32), 1u32, dtype=uint32) + 32767u32)), "
          "16u32, dtype=uint32))\n"
          R"(
}
)"));
}

TEST(LegalizeBfloat16, ReinterpretedBitsAreUnsigned) {
  const Program p = program(Int(16), BFloat(), 8, [](const Expr& x) {
    return select(x > 0, reinterpret(BFloat(), x), make_const(BFloat(), 1));
  });
  EXPECT_TRUE(verify(legalize_bfloat16(p.func, {}), Form::Flat).empty());
}

std::uint16_t nearest(float value) {
  // The two neighbours of the value, and the nearer of them; in between, the one whose last bit is
  // 0.
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint16_t low = static_cast<std::uint16_t>(bits >> 16),
                      high = static_cast<std::uint16_t>(low + 1);
  const std::uint32_t rest = bits & 0xffff;
  if (rest != 0x8000) return rest < 0x8000 ? low : high;
  return low % 2 == 0 ? low : high;
}

TEST(LegalizeBfloat16, RoundsToNearestEven) {
  std::vector<float> values = {0.0f,        -0.0f, 1.0f,     3.14159265f,
                               -2.7182818f, 1e30f, 65504.0f, 1.0f / 3};
  for (std::uint32_t bits :
       {0x3f808000u, 0x3f818000u, 0x3f807fffu, 0x3f808001u, 0xbf808000u, 0x00018000u, 0x7f7fffffu})
    values.push_back(std::bit_cast<float>(bits));
  const int size = static_cast<int>(values.size());
  const Program p =
      program(Float(32), BFloat(), size, [](const Expr& x) { return cast(BFloat(), x); });
  const PrimFunc func = legalize_bfloat16(p.func, {});
  std::vector<std::uint16_t> result(values.size());
  const std::vector<HostValue> args = {HostArray{values.data(), Float(32), {size}},
                                       HostArray{result.data(), BFloat(), {size}}};
  evaluate(func, args);
  for (std::size_t n = 0; n < values.size(); ++n)
    EXPECT_EQ(result[n], nearest(values[n])) << values[n];
}

TEST(LegalizeBfloat16, NothingIsLeftOfTheType) {
  const Program p = program(BFloat(), Float(32), 8, [](const Expr& x) {
    return cast(Float(32),
                select(x < make_float(BFloat(), 1.5), tanh(x), min(x, make_float(BFloat(), 2.0)))) +
           1.0f;
  });
  const PrimFunc func = legalize_bfloat16(p.func, {});
  EXPECT_EQ(test::body_text(func).find("bfloat16"), std::string::npos) << test::body_text(func);
  const std::vector<Violation> violations = verify(func, Form::Flat);
  EXPECT_TRUE(violations.empty()) << violations.front().what << violations.front().where;
}

TEST(LegalizeBfloat16, AScalarParameterKeepsItsType) {
  const Var x("x", BFloat());
  Program p = program(BFloat(), BFloat(), 3, [&](const Expr& a) { return a * x; });
  p.func.params.push_back(x);
  const PrimFunc func = legalize_bfloat16(p.func, {});
  EXPECT_TRUE(verify(func, Form::Flat).empty()) << test::body_text(func);
  EXPECT_TRUE(func.params.back().same_as(x));
  const auto bits = [](double value) { return BFloat16(value).bits; };
  std::vector<std::uint16_t> in{bits(1), bits(-2.5), bits(1.0 / 3)}, out(3);
  const std::vector<HostValue> args = {HostArray{in.data(), BFloat(), {3}},
                                       HostArray{out.data(), BFloat(), {3}}, 3.0};
  evaluate(func, args);
  for (std::size_t n = 0; n < in.size(); ++n)
    EXPECT_EQ(out[n], bits(static_cast<double>(BFloat16::from_bits(in[n])) * 3));
}

TEST(LegalizeBfloat16, OnlyTheTextThatReadersKnowSpellsItOut) {
  const Program p = program(BFloat(), BFloat(), 8, [](const Expr& x) { return x + x; });
  EXPECT_NE(test::body_text(run_pipeline(p.func, {.simple_mode = true})).find("shift_left"),
            std::string::npos);
  EXPECT_EQ(test::body_text(run_pipeline(p.func, {})),
            normalized("for (i: int32, 0, 8) {\n  B[i] = (A[i] + A[i])\n}\n"));
}

}  // namespace
}  // namespace tenon::lowering
