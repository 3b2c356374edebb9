// Machine code of kernels for sm_80 and sm_90, which needs NVRTC and no device.
#include <gtest/gtest.h>
#include <tenon/tenon.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tenon/codegen/c_like/kernels.h"
#include "tenon/codegen/c_like/nvrtc.h"
#include "tenon/lower/pipeline.h"
#include "tenon/lower/split_kernels.h"
#include "tenon/support/error.h"
#include "tenon/topi/gpu.h"
#include "tenon/topi/nn.h"
#include "tests/common/gpu_programs.h"

namespace tenon::testing {
namespace {

// ---- the decoder --------------------------------------------------------------------------------

// Decodes a kernel's machine code from its cubin: no device and no disassembler is needed.
//
//   const MachineCode code = machine_code(cubin, "f_kernel0");
//   const Loop loop = code.inner_loop();
//   loop.count(Opcode::MultiplyAdd) / double(loop.size())
//
// Instructions of sm_70 and later are 16 bytes. The low 12 bits are the operation and the form of
// its operands, bits 73 to 75 the width of a memory access. NVIDIA does not document this; the
// tests compile kernels of known content and check that it is found there.

/// Without the form of the operands: the low 9 bits.
enum class Opcode : std::uint16_t {
  MultiplyAdd = 0x023,  // FFMA
  LoadShared = 0x184,   // LDS
  StoreShared = 0x188,  // STS
  LoadGlobal = 0x181,   // LDG
  StoreGlobal = 0x186,  // STG
  CopyAsync = 0x1ae,    // LDGSTS
  LoadLocal = 0x183,    // LDL: a spilled register, or an array with unknown indices
  StoreLocal = 0x187,   // STL
  Branch = 0x147,       // BRA
  Barrier = 0x11d,      // BAR
  Matrix = 0x03c,       // HMMA
  LoadMatrix = 0x03b,   // LDSM
  Extremum3 = 0x00f,    // VIMNMX3, of sm_90
};

struct Instruction {
  std::uint64_t low, high;
  /// 90 of sm_90.
  int capability;

  Opcode opcode() const { return static_cast<Opcode>(low & 0x1ff); }
  /// The width of a memory access.
  int bits() const;
  /// Its condition is the predicate that is false.
  bool never_runs() const;
  /// The target of a branch, in bytes from the next instruction.
  std::int64_t offset() const;
};

struct Loop {
  std::vector<Instruction> instructions;

  std::size_t size() const { return instructions.size(); }
  int count(Opcode opcode) const;
  /// The widths of all accesses by the opcode, each once, in ascending order.
  std::vector<int> widths(Opcode opcode) const;
};

struct MachineCode {
  std::vector<Instruction> instructions;
  int registers = 0;
  /// On sm_90 with the 1024 bytes that every block needs.
  int shared_bytes = 0;
  /// Memory of a thread for spilled registers, and for arrays that are not in registers.
  int stack_bytes = 0;

  Loop whole() const { return {instructions}; }
  /// From the target of a branch that goes back to that branch: of such loops, the one with the
  /// most multiply-adds and no smaller loop with as many inside.
  Loop inner_loop(Opcode counted = Opcode::MultiplyAdd) const;
};

constexpr std::size_t kInstructionBytes = 16;

template <class T>
T read(const std::string& file, std::size_t at) {
  if (at + sizeof(T) > file.size()) throw RuntimeError("a cubin that ends too early");
  T value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

/// A section of an ELF file of 64 bits.
struct Section {
  std::string name;
  std::uint32_t link;
  std::uint64_t offset, size;
};

std::vector<Section> sections_of(const std::string& file) {
  const auto table = read<std::uint64_t>(file, 0x28);
  const auto entry_bytes = read<std::uint16_t>(file, 0x3a);
  const auto count = read<std::uint16_t>(file, 0x3c), names = read<std::uint16_t>(file, 0x3e);
  const auto entry = [&](std::size_t n) { return table + n * entry_bytes; };
  const auto text = read<std::uint64_t>(file, entry(names) + 0x18);
  std::vector<Section> sections;
  for (std::size_t n = 0; n < count; ++n)
    sections.push_back({file.data() + text + read<std::uint32_t>(file, entry(n)),
                        read<std::uint32_t>(file, entry(n) + 0x28),
                        read<std::uint64_t>(file, entry(n) + 0x18),
                        read<std::uint64_t>(file, entry(n) + 0x20)});
  return sections;
}

const Section& find(const std::vector<Section>& sections, const std::string& name) {
  for (const Section& section : sections)
    if (section.name == name) return section;
  throw RuntimeError("the cubin has no section " + name);
}

/// The number of the symbol.
std::uint32_t symbol_of(const std::string& file, const std::vector<Section>& sections,
                        const std::string& name) {
  constexpr std::size_t kEntry = 24;
  const Section& table = find(sections, ".symtab");
  const Section& names = sections[table.link];
  for (std::size_t at = 0; at < table.size; at += kEntry)
    if (file.data() + names.offset + read<std::uint32_t>(file, table.offset + at) == name)
      return static_cast<std::uint32_t>(at / kEntry);
  throw RuntimeError("the cubin has no symbol " + name);
}

/// Reads an attribute of a kernel from .nv.info, whose records are a format, a kind, a size, and
/// for these kinds a symbol and a number.
int attribute(const std::string& file, const Section& info, std::uint8_t kind,
              std::uint32_t symbol) {
  for (std::size_t at = info.offset; at + 12 <= info.offset + info.size;) {
    const bool has_bytes = read<std::uint8_t>(file, at) == 4;
    if (has_bytes && read<std::uint8_t>(file, at + 1) == kind &&
        read<std::uint32_t>(file, at + 4) == symbol)
      return static_cast<int>(read<std::uint32_t>(file, at + 8));
    at += has_bytes ? 4 + read<std::uint16_t>(file, at + 2) : 4;
  }
  return 0;
}

constexpr std::uint8_t kRegisterCount = 0x2f, kFrameSize = 0x11;

int Instruction::bits() const {
  constexpr int kBits[] = {8, 8, 16, 16, 32, 64, 128, 0};
  return kBits[high >> 9 & 7];
}

std::int64_t Instruction::offset() const {
  const std::uint64_t top = high & 0x3ffff;
  const auto signed_bits = [](std::uint64_t value, int bits) {
    return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
  };
  // Since sm_90 the offset counts units of 4 bytes, and its lowest byte lies apart.
  if (capability >= 90)
    return signed_bits((top << 30 | low >> 34) << 8 | (low >> 16 & 0xff), 56) * 4;
  return signed_bits(top << 32 | low >> 32, 50);
}

/// ptxas puts loads before barriers whose condition never holds and which move nothing.
bool Instruction::never_runs() const { return (low >> 12 & 0xf) == 0xf; }

int Loop::count(Opcode opcode) const {
  return static_cast<int>(
      std::count_if(instructions.begin(), instructions.end(),
                    [&](const Instruction& i) { return i.opcode() == opcode && !i.never_runs(); }));
}

std::vector<int> Loop::widths(Opcode opcode) const {
  std::set<int> widths;
  for (const Instruction& instruction : instructions)
    if (instruction.opcode() == opcode && !instruction.never_runs())
      widths.insert(instruction.bits());
  return {widths.begin(), widths.end()};
}

Loop MachineCode::inner_loop(Opcode counted) const {
  Loop best;
  int most = 0;
  for (std::size_t n = 0; n < instructions.size(); ++n) {
    if (instructions[n].opcode() != Opcode::Branch) continue;
    const std::int64_t target = static_cast<std::int64_t>(n) + 1 +
                                instructions[n].offset() / std::int64_t{kInstructionBytes};
    if (target < 0 || target >= static_cast<std::int64_t>(n)) continue;
    const Loop loop{{instructions.begin() + target, instructions.begin() + std::ptrdiff_t(n) + 1}};
    const int count = loop.count(counted);
    if (count > most || (count == most && count > 0 && loop.size() < best.size()))
      best = loop, most = count;
  }
  return best;
}

MachineCode machine_code(const std::string& cubin, const std::string& kernel) {
  const std::vector<Section> sections = sections_of(cubin);
  const int capability = static_cast<int>(read<std::uint32_t>(cubin, 0x30) >> 8 & 0xff);
  MachineCode code;
  const Section& text = find(sections, ".text." + kernel);
  for (std::uint64_t at = text.offset; at < text.offset + text.size; at += kInstructionBytes)
    code.instructions.push_back(
        {read<std::uint64_t>(cubin, at), read<std::uint64_t>(cubin, at + 8), capability});
  const Section& info = find(sections, ".nv.info");
  const std::uint32_t symbol = symbol_of(cubin, sections, kernel);
  code.registers = attribute(cubin, info, kRegisterCount, symbol);
  code.stack_bytes = attribute(cubin, info, kFrameSize, symbol);
  for (const Section& section : sections)
    if (section.name == ".nv.shared." + kernel) code.shared_bytes = static_cast<int>(section.size);
  return code;
}

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

/// ptxas 13.0 forgets that `b` is negated in the instruction that it makes of min(min(a, -b), c).
TEST(MachineCode, ExtremaOfThreeIntegersAreTwoInstructions) {
  const auto known = compiled(R"(
extern "C" __global__ void f(int* a, const int* b) {
  a[threadIdx.x] = min(min(a[threadIdx.x], b[threadIdx.x]), b[threadIdx.x + 9]);
})",
                              "f", "sm_90");
  if (!known) GTEST_SKIP() << "libnvrtc.so is not here";
  EXPECT_EQ(known->whole().count(Opcode::Extremum3), 1);
  int count = 0;
  for (const GpuProgram& program : gpu_programs(Target("cuda -arch=sm_90").facts())) {
    if (!program.name.starts_with("minimum_") && !program.name.starts_with("choice_")) continue;
    ++count;
    EXPECT_EQ(compiled(program.schedule, program.args, "sm_90")->whole().count(Opcode::Extremum3),
              0)
        << program.name;
  }
  EXPECT_EQ(count, 6);
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
