// Machine code of kernels for sm_80 and sm_90, which needs NVRTC and no device.
#include "tests/cuda/machine_code.h"

#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <functional>
#include <set>

#include "tenon/codegen/c_like/kernels.h"
#include "tenon/codegen/c_like/nvrtc.h"
#include "tenon/lower/pipeline.h"
#include "tenon/lower/split_kernels.h"
#include "tenon/topi/gpu.h"
#include "tenon/topi/nn.h"

namespace tenon::testing {
namespace {

constexpr const char* kArchitectures[] = {"sm_80", "sm_90"};

/// The first machine code that comes up twice: NVRTC compiles one text in several ways, depending
/// on where its memory lies, and some of them, of a few in a thousand, are worse than the rest.
/// Nothing where NVRTC is not found.
std::optional<MachineCode> usual_code(const std::function<codegen::KernelCode()>& compile,
                                      const std::string& kernel) {
  constexpr int kMaxTries = 8;
  std::set<std::string> seen;
  for (int n = 1;; ++n) {
    const codegen::KernelCode code = compile();
    if (code.binary.empty()) return std::nullopt;
    if (!seen.insert(code.binary).second || n == kMaxTries)
      return machine_code(code.binary, kernel);
  }
}

std::optional<MachineCode> compiled(const std::string& text, const std::string& kernel,
                                    const std::string& arch) {
  return usual_code(
      [&] {
        codegen::KernelCode code{.device = runtime::DeviceType::Cuda, .text = text};
        codegen::compile_cuda(code, arch);
        return code;
      },
      kernel);
}

/// Checks the decoder on a text of known content.
TEST(MachineCode, HasWhatTheTextSays) {
  for (const char* arch : kArchitectures) {
    const auto code = compiled(R"(
extern "C" __global__ void f(float4* out, const float4* in, int n) {
  __shared__ float4 tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  const float4 a = tile[63 - threadIdx.x];
  float sum = 0.0f;
#pragma unroll 1
  for (int i = 0; i < n; ++i)
#pragma unroll
    for (int j = 0; j < 16; ++j) sum = sum * a.x + a.y;
  out[threadIdx.x] = make_float4(sum, a.x, a.y, a.z);
  ((float2*)out)[threadIdx.x + 512] = make_float2(a.z, a.w);
  ((float*)out)[threadIdx.x + 4096] = sum;
})",
                               "f", arch);
    if (!code) GTEST_SKIP() << "libnvrtc.so is not here";
    const Loop whole = code->whole();
    using Widths = std::vector<int>;
    EXPECT_EQ(whole.widths(Opcode::LoadGlobal), Widths({128})) << arch;
    EXPECT_EQ(whole.widths(Opcode::StoreShared), Widths({128})) << arch;
    EXPECT_EQ(whole.widths(Opcode::LoadShared), Widths({128})) << arch;
    EXPECT_EQ(whole.widths(Opcode::StoreGlobal), Widths({32, 64, 128})) << arch;
    EXPECT_EQ(whole.count(Opcode::Barrier), 1) << arch;
    EXPECT_EQ(whole.count(Opcode::MultiplyAdd), 16) << arch;
    const Loop loop = code->inner_loop();
    EXPECT_EQ(loop.count(Opcode::MultiplyAdd), 16) << arch;
    EXPECT_EQ(loop.count(Opcode::Barrier), 0) << arch;
    EXPECT_EQ(loop.count(Opcode::LoadShared), 0) << arch;
    EXPECT_EQ(loop.count(Opcode::Branch), 1) << arch;
    EXPECT_LT(loop.size(), 24u) << arch;
    EXPECT_GT(code->registers, 8) << arch;
    EXPECT_LT(code->registers, 64) << arch;
    EXPECT_GE(code->shared_bytes, 1024) << arch;
    EXPECT_EQ(code->stack_bytes, 0) << arch;
  }
}

TEST(MachineCode, ShowsWhatIsSpilled) {
  for (const char* arch : kArchitectures) {
    const auto code = compiled(R"(
extern "C" __global__ void f(float* out, const int* in) {
  float mine[64];
  for (int i = 0; i < 64; ++i) mine[i] = 0.0f;
  for (int i = 0; i < 99; ++i) mine[in[i] & 63] += out[i];
  for (int i = 0; i < 64; ++i) out[i] = mine[i];
})",
                               "f", arch);
    if (!code) GTEST_SKIP() << "libnvrtc.so is not here";
    EXPECT_EQ(code->stack_bytes, 256) << arch;
    EXPECT_GT(code->whole().count(Opcode::LoadLocal), 0) << arch;
    EXPECT_GT(code->whole().count(Opcode::StoreLocal), 0) << arch;
  }
}

/// The first kernel of the schedule.
std::optional<MachineCode> compiled(const te::Schedule& s, const std::vector<LowerArgument>& args,
                                    const std::string& arch) {
  const Target target("cuda -arch=" + arch);
  const lowering::DeviceProgram program =
      lowering::split_kernels(lowering::run_passes(lowering::device_passes(),
                                                   lower(s, args, {.name = "f"}).functions.at("f"),
                                                   {.passes = {.has_async_copies = true}}),
                              target.facts());
  const std::vector<tir::PrimFunc> kernels = {lowering::run_passes(
      lowering::kernel_passes(), program.kernels[0], {.passes = lowering::options_of_kernels()})};
  return usual_code([&] { return codegen::emit_kernels(kernels, target.facts()); }, "f_kernel0");
}

/// A product for each tile size of the library: threads per block, resident blocks per
/// multiprocessor, and sums per thread.
struct BestProduct {
  int n, threads, blocks, sums;
};
constexpr BestProduct kBestProducts[] = {{2048, 64, 4, 64}, {4096, 128, 2, 128}};

/// Compiled once.
const std::optional<MachineCode>& best_matmul(const std::string& arch, int n) {
  static std::map<std::pair<std::string, int>, std::optional<MachineCode>> known;
  const auto [found, is_new] = known.try_emplace({arch, n});
  if (!is_new) return found->second;
  te::Tensor A = te::placeholder({n, n}, "A"), B = te::placeholder({n, n}, "B");
  te::Tensor C = topi::matmul(A, B);
  const Target target("cuda -arch=" + arch);
  found->second = compiled(topi::gpu::schedule_matmul(C, target.facts()), {A, B, C}, arch);
  return found->second;
}

TEST(BestMatmul, ItsInnerLoopIsMultiplyAdds) {
  for (const char* arch : kArchitectures)
    for (const BestProduct& product : kBestProducts) {
      const auto& code = best_matmul(arch, product.n);
      if (!code) GTEST_SKIP() << "libnvrtc.so is not here";
      const Loop loop = code->inner_loop();
      const double share = loop.count(Opcode::MultiplyAdd) / static_cast<double>(loop.size());
      RecordProperty("share_" + std::string(arch) + "_" + std::to_string(product.n),
                     std::to_string(share));
      EXPECT_GE(share, 0.88) << arch << " " << product.n;
      EXPECT_EQ(loop.count(Opcode::MultiplyAdd), 16 * product.sums) << arch << " " << product.n;
    }
}

TEST(BestMatmul, MovesVectorsOf128Bits) {
  for (const char* arch : kArchitectures)
    for (const BestProduct& product : kBestProducts) {
      const auto& code = best_matmul(arch, product.n);
      if (!code) GTEST_SKIP() << "libnvrtc.so is not here";
      const std::vector<int> wide{128};
      const Loop whole = code->whole(), loop = code->inner_loop();
      EXPECT_EQ(loop.widths(Opcode::LoadShared), wide) << arch;
      EXPECT_EQ(loop.widths(Opcode::CopyAsync), wide) << arch;
      EXPECT_EQ(whole.widths(Opcode::StoreGlobal), wide) << arch;
      // Copies before the loop pass through registers.
      EXPECT_EQ(whole.widths(Opcode::LoadGlobal), wide) << arch;
      EXPECT_EQ(whole.widths(Opcode::StoreShared), wide) << arch;
      EXPECT_EQ(loop.count(Opcode::LoadGlobal), 0) << arch;
      EXPECT_EQ(loop.count(Opcode::StoreShared), 0) << arch;
    }
}

TEST(BestMatmul, KeepsItsBlocksOnAMultiprocessorAndSpillsNothing) {
  for (const char* arch : kArchitectures)
    for (const BestProduct& product : kBestProducts) {
      const auto& code = best_matmul(arch, product.n);
      if (!code) GTEST_SKIP() << "libnvrtc.so is not here";
      EXPECT_LE(code->registers * product.threads * product.blocks, 65536) << arch;
      EXPECT_LE(code->shared_bytes * product.blocks, 160 * 1024) << arch;
      EXPECT_EQ(code->stack_bytes, 0) << arch;
      EXPECT_EQ(code->whole().count(Opcode::LoadLocal), 0) << arch;
      EXPECT_EQ(code->whole().count(Opcode::StoreLocal), 0) << arch;
    }
}

// ---- tensor cores -------------------------------------------------------------------------------

std::optional<MachineCode> matmul_on_tensor_cores(const std::string& arch) {
  te::Tensor A = te::placeholder({2048, 2048}, "A", Float(16)),
             B = te::placeholder({2048, 2048}, "B", Float(16));
  te::Tensor C = topi::matmul(A, B, {.out_dtype = Float(32)});
  const Target target("cuda -arch=" + arch);
  return compiled(topi::gpu::schedule_matmul(C, target.facts()), {A, B, C}, arch);
}

/// A warp has 4 x 2 tiles of 16 x 16, and a step of 32 terms is two of each: 16 products, of which
/// each is two instructions of 16 x 8 x 16.
TEST(MatmulOnTensorCores, ItsInnerLoopMultipliesMatrices) {
  for (const char* arch : kArchitectures) {
    const auto code = matmul_on_tensor_cores(arch);
    if (!code) GTEST_SKIP() << "libnvrtc.so is not here";
    const Loop loop = code->inner_loop(Opcode::Matrix);
    RecordProperty(std::string("instructions_") + arch, static_cast<int>(loop.size()));
    RecordProperty(std::string("registers_") + arch, code->registers);
    EXPECT_EQ(loop.count(Opcode::Matrix), 32) << arch;
    EXPECT_GT(loop.count(Opcode::LoadMatrix), 0) << arch;
    const std::vector<int> wide{128};
    EXPECT_EQ(loop.widths(Opcode::CopyAsync), wide) << arch;
    EXPECT_EQ(loop.count(Opcode::LoadGlobal), 0) << arch;
    EXPECT_EQ(code->stack_bytes, 0) << arch;
    EXPECT_EQ(code->whole().count(Opcode::LoadLocal), 0) << arch;
  }
}

TEST(MachineCode, UsesNoMoreRegistersThanTheTargetSays) {
  te::Tensor A = te::placeholder({72, 72}, "A"), B = te::placeholder({72, 72}, "B");
  te::Tensor C = topi::matmul(A, B);
  const Target any("cuda -arch=sm_80");
  const te::Schedule s = topi::gpu::schedule_matmul(C, any.facts());
  const auto code = compiled(s, {A, B, C}, "sm_80"),
             limited = compiled(s, {A, B, C}, "sm_80 -registers=32");
  if (!code) GTEST_SKIP() << "libnvrtc.so is not here";
  EXPECT_GT(code->registers, 32);
  EXPECT_LE(limited->registers, 32);
}

}  // namespace
}  // namespace tenon::testing
