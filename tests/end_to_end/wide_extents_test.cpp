// Loops and arrays at the limits of int32, compiled and run: nothing wraps.
#include <gtest/gtest.h>

#include <sstream>

#include "tenon/driver/build.h"
#include "tenon/driver/lower.h"
#include "tenon/te/reduce.h"

namespace tenon {
namespace {

using te::IterVar;
using te::Tensor;
using tir::Var;

/// sum(k for k < n), which the loops go through one by one in whatever way they are split.
std::int64_t sum_below(const te::Schedule& s, const Tensor& C) {
  runtime::Module module = build(s, {C}, Target("llvm"), {.name = "f"});
  auto c = runtime::NDArray::zeros({1}, Int(64), cpu(0));
  module["f"](c);
  return c.data<std::int64_t>()[0];
}

struct SumBelow {
  explicit SumBelow(std::int64_t n)
      : k(te::reduce_axis({0, static_cast<int>(n)}, "k")),
        C(te::compute(
            {1}, {"i"}, [&](Var) { return te::sum(k.var().astype(Int(64)), {k}); }, "C")),
        s(te::create_schedule(C)) {}
  IterVar k;
  Tensor C;
  te::Schedule s;
};

TEST(WideExtentsTest, ALoopOfTheGreatestInt32SplitWithARest) {
  SumBelow sum(2147483647);
  sum.s[sum.C].split(sum.k, 1000);
  EXPECT_EQ(sum_below(sum.s, sum.C), 2147483647LL * 2147483646 / 2);
}

TEST(WideExtentsTest, ALoopOfTheGreatestInt32SplitIntoParts) {
  SumBelow sum(2147483647);
  sum.s[sum.C].split_by_nparts(sum.k, 1000);
  EXPECT_EQ(sum_below(sum.s, sum.C), 2147483647LL * 2147483646 / 2);
}

TEST(WideExtentsTest, FusedReductionsOfMoreIterationsThanInt32) {
  const IterVar r = te::reduce_axis({0, 65536}, "r"), q = te::reduce_axis({0, 65536}, "q");
  Tensor A = te::placeholder({3}, "A", Int(64));
  Tensor C = te::compute(
      {3}, {"i"},
      [&](Var i) {
        return te::sum(A(i), {r, q});
      },
      "C");
  te::Schedule s = te::create_schedule(C);
  s[C].fuse({r, q});
  runtime::Module module = build(s, {A, C}, Target("llvm"), {.name = "f"});
  const std::vector<std::int64_t> in = {1, -7, 65537};
  auto a = runtime::NDArray::from(std::span<const std::int64_t>(in), {3});
  auto c = runtime::NDArray::zeros({3}, Int(64), cpu(0));
  module["f"](a, c);
  for (std::size_t n = 0; n < in.size(); ++n)
    EXPECT_EQ(c.data<std::int64_t>()[n], in[n] * 4294967296LL);
}

TEST(WideExtentsTest, FusedAxesOfAnOutputOfMoreElementsThanInt32) {
  // Text alone: the array has 4 GiB.
  Tensor B = te::compute(
      {65536, 65536}, {"i", "j"},
      [&](Var i, Var j) { return (tir::floormod(i, 64) + j).astype(Int(8)); }, "B");
  te::Schedule s = te::create_schedule(B);
  s[B].fuse(s[B].axis(0), s[B].axis(1));
  std::ostringstream text;
  text << lower(s, {B}, {.simple_mode = true});
  EXPECT_NE(text.str().find("for (i.j.fused: int64, 0i64, 4294967296i64) {"), std::string::npos)
      << text.str();
}

}  // namespace
}  // namespace tenon
