// Sums of products of low-precision integers.
#include <gtest/gtest.h>

#include "tenon/driver/target.h"
#include "tenon/topi/broadcast.h"
#include "tenon/topi/cpu.h"
#include "tenon/topi/elementwise.h"
#include "tenon/topi/nn.h"
#include "tenon/topi/schedule.h"
#include "tenon/topi/tensor_intrinsics.h"
#include "tests/common/cpu_targets.h"
#include "tests/common/run_on_device.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- the intrinsic ------------------------------------------------------------------------------

// Sums of four products of int8, by the ready-made intrinsic.

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

namespace tenon::topi {
namespace {

// ---- schedules for processors -------------------------------------------------------------------

// Products of matrices of narrow numbers by topi's schedule for processors.

using tir::TargetFacts;

struct Types {
  DataType a, b, sum;
};
const std::vector<Types> kTypes = {{Int(8), Int(8), Int(32)},
                                   {UInt(8), Int(8), Int(32)},
                                   {Int(8), UInt(8), Int(32)},
                                   {UInt(8), UInt(8), Int(32)},
                                   {BFloat(16), BFloat(16), Float(32)}};

std::string differs(const te::Schedule& s, const std::vector<LowerArgument>& args) {
  return testing::compare_with_default(
      s, args, {.compile_c = false, .symbols = {21}, .build = {.opt_level = 3}});
}

struct Product {
  Tensor a, b, c;
};

Product product(int m, int n, int k, const Types& types, bool transpose_a = false,
                bool transpose_b = false) {
  const Tensor A = transpose_a ? te::placeholder({k, m}, "A", types.a)
                               : te::placeholder({m, k}, "A", types.a),
               B = transpose_b ? te::placeholder({n, k}, "B", types.b)
                               : te::placeholder({k, n}, "B", types.b);
  return {A, B,
          matmul(A, B,
                 {.transpose_a = transpose_a,
                  .transpose_b = transpose_b,
                  .out_dtype = types.sum,
                  .name = "C"})};
}

TEST(CpuDotProducts, OfAnyExtentsAndTypes) {
  for (const Types& types : kTypes)
    for (const auto& [m, n, k] : std::vector<std::tuple<int, int, int>>{
             {16, 64, 8}, {9, 100, 7}, {5, 17, 33}, {37, 3, 4}, {2, 40, 3}}) {
      const Product p = product(m, n, k, types);
      for (const TargetFacts& target : testing::cpu_targets())
        EXPECT_EQ(differs(cpu::schedule_matmul(p.c, target), {p.a, p.b, p.c}), "")
            << types.a.str() << " " << types.b.str() << " " << m << " " << n << " " << k;
    }
}

TEST(CpuDotProducts, OfSymbolicReductions) {
  const te::Var k = te::size_var("k");
  for (const Types& types : {kTypes[1], kTypes[4]}) {
    const Tensor A = te::placeholder({9, k}, "A", types.a),
                 B = te::placeholder({k, 40}, "B", types.b);
    const Tensor C = matmul(A, B, {.out_dtype = types.sum});
    for (const TargetFacts& target : testing::cpu_targets())
      EXPECT_EQ(differs(cpu::schedule_matmul(C, target), {A, B, C}), "") << types.a.str();
  }
}

TEST(CpuDotProducts, OfTransposedFactorsAndBatches) {
  for (const Types& types : {kTypes[0], kTypes[4]}) {
    for (const auto& [a, b] : {std::pair(true, false), {false, true}, {true, true}}) {
      const Product p = product(19, 70, 21, types, a, b);
      for (const TargetFacts& target : testing::cpu_targets())
        EXPECT_EQ(differs(cpu::schedule_matmul(p.c, target), {p.a, p.b, p.c}), "")
            << types.a.str() << a << b;
    }
    const Tensor A = te::placeholder({3, 18, 12}, "A", types.a),
                 B = te::placeholder({3, 12, 37}, "B", types.b);
    const Tensor C = batch_matmul(A, B, {.out_dtype = types.sum});
    for (const TargetFacts& target : testing::cpu_targets())
      EXPECT_EQ(differs(cpu::schedule_matmul(C, target), {A, B, C}), "") << types.a.str();
  }
}

TEST(CpuDotProducts, AreTakenBackToBytesWithTheProduct) {
  const Product p = product(21, 50, 30, {UInt(8), Int(8), Int(32)});
  // Requantised: scaled, rounded and cut off.
  const Tensor scaled = multiply(Term(cast(p.c, Float(32))), Term(0.01f));
  const Tensor out = cast(clip(round(scaled), -128, 127), Int(8));
  const te::Schedule s = te::create_schedule(out);
  schedule(s, {out}, testing::cpu_targets()[1]);
  EXPECT_EQ(differs(s, {p.a, p.b, out}), "");
}

#if defined(__x86_64__)
TEST(CpuDotProducts, AreDotProductsOfTheProcessor) {
  if (!__builtin_cpu_supports("avx512vnni") || !__builtin_cpu_supports("avx512bf16"))
    GTEST_SKIP() << "it has none";
  const Target target("llvm");
  for (const auto& [types, name] : {std::pair(kTypes[0], "vpdpbusd"), {kTypes[4], "vdpbf16ps"}}) {
    const Product p = product(64, 128, 64, types);
    const std::string code =
        build(cpu::schedule_matmul(p.c, target.facts()), {p.a, p.b, p.c}, target).get_source("asm");
    EXPECT_NE(code.find(name), std::string::npos) << types.a.str();
  }
}
#endif

}  // namespace
}  // namespace tenon::topi
