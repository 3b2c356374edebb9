// bfloat16 as compiled: what only a whole build meets.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include <tenon/tenon.h>

namespace tenon {
namespace {

using runtime::BFloat16;
using runtime::NDArray;

TEST(Bfloat16Test, AScalarParameterIsMultipliedBy) {
  const te::Tensor A = te::placeholder({3}, "A", BFloat(16));
  const Var x("x", BFloat(16));
  const te::Tensor B = te::compute(
      {3}, {"i"}, [&](Var i) { return A(i) * x; }, "B");
  const runtime::Module mod = build(te::create_schedule(B), {A, x, B}, Target("llvm"));
  const std::vector<BFloat16> in{BFloat16(1.0), BFloat16(-2.5), BFloat16(0.75)};
  const NDArray a = NDArray::from(in, {3}), b = NDArray::zeros({3}, BFloat(16));
  mod["main"](a, 3.0, b);
  for (std::size_t n = 0; n < in.size(); ++n)
    EXPECT_EQ(static_cast<double>(b.data<runtime::BFloat16>()[n]), static_cast<double>(in[n]) * 3);
}

TEST(Bfloat16Test, EveryNanStaysOne) {
  std::vector<float> nans;
  for (std::uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u, 0xff80ffffu, 0x7fc00000u})
    nans.push_back(std::bit_cast<float>(bits));
  const int count = static_cast<int>(nans.size());
  const te::Tensor A = te::placeholder({count}, "A");
  const te::Tensor B = te::compute(
      {count}, {"i"}, [&](Var i) { return cast(BFloat(16), A(i)); }, "B");
  const runtime::Module mod = build(te::create_schedule(B), {A, B}, Target("llvm"));
  const NDArray a = NDArray::from(nans, {count}), b = NDArray::zeros({count}, BFloat(16));
  mod["main"](a, b);
  for (std::size_t n = 0; n < nans.size(); ++n)
    EXPECT_TRUE(std::isnan(static_cast<double>(b.data<runtime::BFloat16>()[n]))) << n;
}

TEST(Bfloat16Test, ADoubleIsRoundedOnce) {
  // Just above the middle of two neighbours: float32 would round it to the middle, and that to
  // even.
  const std::vector<double> in{1.00390625 + 0x1p-40};
  const te::Tensor A = te::placeholder({1}, "A", Float(64));
  const te::Tensor B = te::compute(
      {1}, {"i"}, [&](Var i) { return cast(BFloat(16), A(i)); }, "B");
  const runtime::Module mod = build(te::create_schedule(B), {A, B}, Target("llvm"));
  const NDArray a = NDArray::from(in, {1}), b = NDArray::zeros({1}, BFloat(16));
  mod["main"](a, b);
  EXPECT_EQ(static_cast<double>(b.data<runtime::BFloat16>()[0]), 1.0078125);
}

}  // namespace
}  // namespace tenon
