// The innermost loops of library kernels, for named processors of x86-64. Such a processor starts
// two fused multiply-adds of 64 bytes per cycle, each of which takes four cycles, and reads memory
// twice per cycle. A kernel runs at the peak only if its innermost loop has eight independent
// multiply-adds or more, and at most one read per multiply-add.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "tenon/tenon.h"
#include "tenon/topi/convolution.h"
#include "tenon/topi/schedule.h"
#include "tenon/topi/transformer.h"
#include "tests/common/assembly.h"

namespace tenon::testing {
namespace {

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
