// Sums of four products of int8, by the ready-made intrinsic.
#include <gtest/gtest.h>

#include "tenon/topi/tensor_intrinsics.h"
#include "tests/common/run_on_device.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

using te::Tensor;

/// C(i, j) = sum over k of A(i, k) B(j, k), four k at a time.
struct Products {
  Tensor A, B;
  te::IterVar k = te::reduce_axis({0, 24}, "k");
  Tensor C = te::compute(
      {8, 12}, {"i", "j"},
      [&](Var i, Var j) { return te::sum(cast(Int(32), A(i, k)) * cast(Int(32), B(j, k)), {k}); },
      "C");
  te::Schedule s = te::create_schedule(C);

  Products(DataType a, DataType b)
      : A(te::placeholder({8, 24}, "A", a)), B(te::placeholder({12, 24}, "B", b)) {
    auto [ko, ki] = s[C].split(s[C].reduce_axis(0), 4);
    s[C].tensorize(ki, topi::gpu::dot_product_of_four(a, b));
  }
  Products& bind() {
    s[C].bind(s[C].axis(0), te::thread_axis("blockIdx.x"));
    s[C].bind(s[C].axis(1), te::thread_axis("threadIdx.x"));
    return *this;
  }
  std::vector<LowerArgument> args() const { return {A, B, C}; }
  std::string source(const char* kind) const {
    return compile(s, args(), Target("cuda -arch=sm_80")).source(kind);
  }
};

TEST(DotProducts, AreWhatTheDefaultScheduleComputes) {
  for (const DataType a : {Int(8), UInt(8)}) {
    for (const DataType b : {Int(8), UInt(8)}) {
      const Products p(a, b);
      EXPECT_EQ(compare_with_default(p.s, p.args()), "") << a.str() << " " << b.str();
    }
  }
}

TEST(DotProducts, AreWhatTheDefaultScheduleComputesOnDevices) {
  for (const DataType b : {Int(8), UInt(8)}) {
    Products p(Int(8), b);
    p.bind();
    EXPECT_EQ(compare_with_default(p.s, p.args(), {.compile = false}), "") << b.str();
    EXPECT_EQ(refused_by_nvrtc(p.s, p.args()), "") << b.str();
  }
}

TEST(DotProducts, AreOneInstructionOnCuda) {
  const std::string text = Products(Int(8), Int(8)).bind().source("cuda");
  EXPECT_NE(text.find("__dp4a(*(const int*)(A + "), std::string::npos) << text;
  try {
    for (const auto& [a, b, name] : {std::tuple(Int(8), Int(8), "dp4a.s32.s32"),
                                     {UInt(8), Int(8), "dp4a.u32.s32"},
                                     {UInt(8), UInt(8), "dp4a.u32.u32"}}) {
      const std::string ptx = Products(a, b).bind().source("ptx");
      EXPECT_NE(ptx.find(name), std::string::npos) << ptx;
    }
  } catch (const RuntimeError& error) {
    GTEST_SKIP() << error.what();
  }
}

}  // namespace
}  // namespace tenon::testing
