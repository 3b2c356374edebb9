// The loops that the compiler vectorizes on its own, and those of library kernels.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "tenon/tenon.h"
#include "tenon/topi/convolution.h"
#include "tenon/topi/schedule.h"
#include "tenon/topi/transformer.h"
#include "tests/common/assembly.h"
#include "tests/common/ways_to_run.h"

namespace tenon::testing {
namespace {

// ---- loops without marks ------------------------------------------------------------------------

// Loops that no schedule marked: what they compute, whatever the extents, types and accesses are,
// and whether their code has vectors.

const char* const kWithAvx512 = "llvm -mcpu=skylake-avx512";

std::string assembly_of(const te::Tensor& out, std::vector<LowerArgument> args,
                        const BuildOptions& options = {}) {
  args.emplace_back(out);
  return compile(te::create_schedule({out}), args, Target(kWithAvx512), options).source("asm");
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

te::Tensor row_sums(const te::Tensor& A) {
  te::IterVar k = te::reduce_axis({0, 100}, "k");
  return te::compute(
      {8}, {"i"}, [&](Var i) { return te::sum(A(i, k), {k}); }, "B");
}

TEST(PlainLoops, HaveVectorsOfTheFullWidth) {
  te::Tensor A = te::placeholder({4096}, "A");
  te::Tensor B = te::compute(
      {4096}, {"i"}, [&](Var i) { return A(i) * 3.0F + 1.0F; }, "B");
  EXPECT_TRUE(has(assembly_of(B, {A}), "zmm"));
}

TEST(PlainLoops, AddFloatsUpInTheirOrderUnlessItIsFree) {
  te::Tensor A = te::placeholder({8, 100}, "A");
  te::Tensor B = row_sums(A);
  EXPECT_FALSE(has(assembly_of(B, {A}), "vaddps"));
  EXPECT_TRUE(has(assembly_of(B, {A}, {.fast_math = true}), "vaddps"));
}

TEST(PlainLoops, SumsInAFreeOrder) {
  te::Tensor A = te::placeholder({8, 100}, "A");
  te::Tensor B = row_sums(A);
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}, {.build = {.fast_math = true}}),
            "");
}

TEST(PlainLoops, AParallelLoopIsVectorsOfSeveralThreads) {
  Var n = te::size_var("n");
  for (const Expr& extent : std::vector<Expr>{Expr(1000), n}) {
    te::Tensor A = te::placeholder({extent}, "A");
    te::Tensor B = te::compute(
        {extent}, {"i"}, [&](Var i) { return A(i) * 3.0F + 1.0F; }, "B");
    te::Schedule s = te::create_schedule(B);
    s[B].parallel(s[B].axis(0)).autotune_loops();
    EXPECT_TRUE(has(compile(s, {A, B}, Target(kWithAvx512)).source("asm"), "zmm"));
    EXPECT_EQ(compare_with_default(s, {A, B}, {.symbols = {0, 1, 17, 700}}), "");
  }
}

TEST(PlainLoops, RowsThatLieApartAreNotTakenForLoops) {
  // A[i * j] has steps of j in the loop over i, which is copied for rows that lie side by side.
  te::Tensor A = te::placeholder({16}, "A");
  te::Tensor B = te::compute(
      {4, 40}, {"i", "j"},
      [&](Var i, Var j) { return if_then_else(i * j < 16, A(i * j), 0.0f) - A(min(j, 2)); }, "B");
  const Var row("row");
  const tir::Buffer b = tir::decl_buffer({4, 40}, Float(32), {.name = "B", .strides = {row, 1}});
  const runtime::Module module =
      build(te::create_schedule(B), {A, b}, Target("llvm"), {.binds = {{B, b}}});
  const auto a = runtime::NDArray::zeros({16}, Float(32)),
             result = runtime::NDArray::zeros({4, 40}, Float(32));
  for (int n = 0; n < 16; ++n) a.data<float>()[n] = static_cast<float>(n + 1);
  module["main"](a, result);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 40; ++j)
      EXPECT_EQ(result.data<float>()[i * 40 + j],
                static_cast<float>((i * j < 16 ? i * j + 1 : 0) - (std::min(j, 2) + 1)));
}

struct EveryType : ::testing::TestWithParam<DataType> {};

TEST_P(EveryType, InLoopsOfOddExtents) {
  const DataType type = GetParam();
  for (int extent : {3, 4, 13, 67, 130}) {
    te::Tensor A = te::placeholder({extent * 2, 3}, "A", type),
               C = te::placeholder({extent}, "C", type);
    te::Tensor B = te::compute(
        {3, extent}, {"j", "i"},
        [&](Var j, Var i) {
          return select(A(i * 2, j) > C(i), A(i * 2 + 1, j) + C(i),
                        max(A(i, 0), C(extent - 1 - i)));
        },
        "B");
    EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, C, B},
                                   {.tolerance = 1e-2, .build = {.opt_level = 3}}),
              "")
        << extent;
  }
}

INSTANTIATE_TEST_SUITE_P(PlainLoops, EveryType,
                         ::testing::Values(Float(32), Float(64), Float(16), BFloat(16), Int(8),
                                           Int(16), Int(32), Int(64), UInt(8), UInt(32)),
                         [](const auto& info) { return info.param.str(); });

TEST(PlainLoops, IntegersAccumulateByLanes) {
  te::Tensor A = te::placeholder({5, 131}, "A", Int(8));
  te::IterVar k = te::reduce_axis({0, 131}, "k"), q = te::reduce_axis({0, 131}, "q");
  te::Tensor S = te::compute(
      {5}, {"i"}, [&](Var i) { return te::sum(cast(Int(32), A(i, k)), {k}); }, "S");
  te::Tensor M = te::compute(
      {5}, {"i"}, [&](Var i) { return te::min(A(i, q), {q}); }, "M");
  EXPECT_EQ(compare_with_default(te::create_schedule({S, M}), {A, S, M}), "");
}

TEST(PlainLoops, FunctionsOfMathematics) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"},
      [&](Var i) { return exp(A(i)) * tanh(A(i)) + sqrt(abs(A(i))) + atan(A(i)) + sin(A(i)); },
      "B");
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}, {.symbols = {1, 5, 100}}), "");
}

TEST(PlainLoops, ConditionsThatChangeOnTheWay) {
  te::Tensor A = te::placeholder({9, 37}, "A");
  te::Tensor B = te::compute(
      {11, 40}, {"i", "j"},
      [&](Var i, Var j) {
        return if_then_else(tir::all(i >= 1, i < 10, j >= 2, j < 39), A(i - 1, j - 2), 7.0F);
      },
      "B");
  EXPECT_EQ(compare_with_default(te::create_schedule(B), {A, B}), "");
}

TEST(PlainLoops, ArraysWhoseElementsAreApart) {
  Var n = te::size_var("n");
  te::Tensor A = te::placeholder({n}, "A");
  te::Tensor B = te::compute(
      {n}, {"i"}, [&](Var i) { return A(i) + 1.0F; }, "B");
  const tir::Buffer apart =
      tir::decl_buffer({n}, Float(32), {.name = "A", .strides = {te::var("s")}});
  const runtime::Module module =
      build(te::create_schedule(B), {A, B}, Target("llvm"), {.binds = {{A, apart}}});
  alignas(64) float from[200];
  for (int i = 0; i < 200; ++i) from[i] = static_cast<float>(i);
  for (std::int64_t stride : {1, 2}) {
    std::int64_t shape = 100;
    DLTensor a = {.data = from,
                  .device = {kDLCPU, 0},
                  .ndim = 1,
                  .dtype = {kDLFloat, 32, 1},
                  .shape = &shape,
                  .strides = &stride,
                  .byte_offset = 0};
    const runtime::NDArray b = runtime::NDArray::zeros({100}, Float(32), cpu(0));
    module["main"].call(std::vector<runtime::Argument>{&a, b});
    for (std::int64_t i = 0; i < 100; ++i)
      EXPECT_EQ(b.data<float>()[i], static_cast<float>(i * stride + 1)) << stride;
  }
}

/// The distance between neighbours' elements is the variable of a loop, inside or around.
TEST(PlainLoops, TakeProductsOfTwoAxesAsIndices) {
  te::Tensor A = te::placeholder({64}, "A"), B = te::placeholder({64, 64}, "B");
  te::IterVar k = te::reduce_axis({0, 5}, "k"), l = te::reduce_axis({1, 4}, "l");
  const std::vector<te::Tensor> all = {
      te::compute({8}, {"i"}, [&](Var i) { return te::sum(A(i * k), {k}); }),
      te::compute({8}, {"i"}, [&](Var i) { return te::sum(A(i * l + l), {l}); }),
      te::compute({9}, {"i"},
                  [&](Var i) {
                    return te::sum(B(i * k, i * l), {k, l});
                  }),
      te::compute({4, 12}, {"j", "i"}, [&](Var j, Var i) { return A(i * j) * 2.0f; }),
      te::compute({4, 12}, {"j", "i"}, [&](Var j, Var i) { return B(j * i, i * j + j); }),
      te::compute({12}, {"i"}, [&](Var i) { return te::sum(A((Expr(4) - k) * i), {k}); }),
      te::compute({4}, {"i"}, [&](Var i) {
        return te::sum(A(i * k * l), {k, l});
      })};
  for (const te::Tensor& C : all)
    EXPECT_EQ(compare_with_default(te::create_schedule(C), {C.op().inputs()[0], C}), "") << C.op();
}

// ---- kernels of the library ---------------------------------------------------------------------

// The innermost loops of library kernels, for named processors of x86-64. Such a processor starts
// two fused multiply-adds of 64 bytes per cycle, each of which takes four cycles, and reads memory
// twice per cycle. A kernel runs at the peak only if its innermost loop has eight independent
// multiply-adds or more, and at most one read per multiply-add.

using namespace topi;

struct HotKernel {
  const char* name;
  std::vector<Tensor> inputs;
  Tensor out;
  const char* cpu = "skylake-avx512";
  const char* instruction = "vfmadd";
};

Tensor input(std::vector<int> shape, const char* name, DataType dtype = Float(32)) {
  return te::placeholder(std::vector<Expr>(shape.begin(), shape.end()), name, dtype);
}

using MakeOutput = std::function<Tensor(const Tensor&, const Tensor&)>;

HotKernel kernel_of(const char* name, std::vector<int> a, std::vector<int> b,
                    const MakeOutput& make, DataType dtype = Float(32)) {
  const Tensor A = input(std::move(a), "A", dtype), B = input(std::move(b), "B", dtype);
  return {name, {A, B}, make(A, B)};
}

std::vector<HotKernel> hot_kernels() {
  const auto product = [](MatmulOptions options) {
    return [=](const Tensor& a, const Tensor& b) { return matmul(a, b, options); };
  };
  const auto convolution = [](ConvolutionOptions options) {
    return [=](const Tensor& x, const Tensor& k) { return conv2d_nchw(x, k, options); };
  };
  const ConvolutionOptions padded{.padding = {1, 1, 1, 1}};
  std::vector<HotKernel> kernels = {
      kernel_of("matmul", {512, 512}, {512, 512}, product({})),
      kernel_of("matmul_float64", {512, 512}, {512, 512}, product({}), Float(64)),
      kernel_of("matmul_with_transposed_a", {512, 512}, {512, 512}, product({.transpose_a = true})),
      kernel_of("matmul_of_30_columns", {1024, 111}, {111, 30}, product({})),
      kernel_of("matmul_of_12_rows_by_transposed_b", {12, 1024}, {768, 1024},
                product({.transpose_b = true})),
      kernel_of("dense", {256, 768}, {768, 768},
                [](const Tensor& x, const Tensor& w) { return dense(x, w); }),
      kernel_of("batch_matmul", {12, 128, 64}, {12, 64, 128},
                [](const Tensor& a, const Tensor& b) { return batch_matmul(a, b); }),
      kernel_of("conv2d_3x3", {1, 64, 56, 56}, {64, 64, 3, 3}, convolution(padded)),
      kernel_of("conv2d_1x1", {1, 256, 14, 14}, {256, 256, 1, 1}, convolution({})),
      kernel_of("conv2d_nhwc", {1, 28, 28, 128}, {3, 3, 128, 128},
                [&](const Tensor& x, const Tensor& k) { return conv2d_nhwc(x, k, padded); }),
      kernel_of("conv2d_winograd", {1, 64, 56, 56}, {64, 64, 3, 3},
                [](const Tensor& x, const Tensor& k) {
                  return conv2d_winograd_nchw(x, k, {.padding = {1, 1, 1, 1}});
                })};
  const Tensor Q = input({8, 512, 64}, "Q"), K = input({8, 512, 64}, "K"),
               V = input({8, 512, 64}, "V");
  kernels.push_back({"attention", {Q, K, V}, attention(Q, K, V)});
  const Tensor A = input({512, 512}, "A", UInt(8)), B = input({512, 512}, "B", Int(8));
  kernels.push_back(
      {"matmul_int8", {A, B}, matmul(A, B, {.out_dtype = Int(32)}), "cascadelake", "vpdpbusd"});
  return kernels;
}

/// The registers that the instructions of this name write.
std::set<std::string> accumulators(const std::vector<std::string>& loop, const char* instruction) {
  std::set<std::string> registers;
  for (const std::string& line : loop)
    if (line.find(instruction) != std::string::npos) registers.insert(line.substr(line.rfind('%')));
  return registers;
}

/// Instructions that read memory; neither prefetches nor address computations.
long reads(const std::vector<std::string>& loop) {
  return std::ranges::count_if(loop, [](const std::string& line) {
    const bool has_address = line.find('(') != std::string::npos;
    return has_address && !line.ends_with(')') && line.find("\tlea") == std::string::npos;
  });
}

std::vector<std::string> innermost_loop(const HotKernel& k) {
  const Target target(std::string("llvm -mcpu=") + k.cpu);
  te::Schedule s = te::create_schedule(k.out);
  schedule(s, {k.out}, target.facts());
  std::vector<LowerArgument> args(k.inputs.begin(), k.inputs.end());
  args.emplace_back(k.out);
  return hottest_loop(compile(s, args, target).source("asm"), k.instruction);
}

class MultiplyAdds : public ::testing::TestWithParam<HotKernel> {
 protected:
  /// Compiles each kernel once.
  static const std::vector<std::string>& loop() {
    static std::map<std::string, std::vector<std::string>> loops;
    std::vector<std::string>& loop = loops[GetParam().name];
    if (loop.empty()) loop = innermost_loop(GetParam());
    return loop;
  }
};

TEST_P(MultiplyAdds, OfTheInnermostLoopCoverTheLatency) {
  EXPECT_GE(accumulators(loop(), GetParam().instruction).size(), 8U);
}

TEST_P(MultiplyAdds, UseRegistersOfFullWidth) {
  for (const std::string& line : loop()) {
    const bool is_multiply_add = line.find(GetParam().instruction) != std::string::npos;
    EXPECT_TRUE(!is_multiply_add || line.find("%zmm") != std::string::npos) << line;
  }
}

TEST_P(MultiplyAdds, AreAtLeastAsManyAsReads) {
  EXPECT_LE(reads(loop()), count(loop(), GetParam().instruction));
}

TEST_P(MultiplyAdds, SpillNoRegister) { EXPECT_EQ(count(loop(), "%rsp"), 0); }

INSTANTIATE_TEST_SUITE_P(Kernels, MultiplyAdds, ::testing::ValuesIn(hot_kernels()),
                         [](const auto& kernel) { return std::string(kernel.param.name); });

}  // namespace
}  // namespace tenon::testing
