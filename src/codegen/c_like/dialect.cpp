#include "codegen/c_like/dialect.h"

#include <algorithm>
#include <array>
#include <bit>

#include "tenon/codegen/keywords.h"
#include "tenon/support/error.h"

namespace tenon::codegen {

namespace {

std::string_view integer_type(const Dialect& dialect, DataType t) {
  if (t.bits < 8 || t.bits > 64 || !std::has_single_bit(t.bits))
    throw LowerError("C has no integers of type " + t.element().str());
  return dialect.integers[t.is_uint()][std::countr_zero(t.bits) - 3];
}

constexpr std::string_view kReservedInOpenCl[] = {
    "kernel",       "global",     "local",    "constant", "private",  "generic",   "half",
    "uchar",        "ushort",     "uint",     "ulong",    "size_t",   "ptrdiff_t", "read_only",
    "write_only",   "read_write", "uniform",  "pipe",     "event_t",  "sampler_t", "image2d_t",
    "image3d_t",    "barrier",    "min",      "max",      "clamp",    "mix",       "step",
    "sign",         "dot",        "cross",    "length",   "distance", "normalize", "degrees",
    "radians",      "select",     "any",      "all",      "rotate",   "hadd",      "mad",
    "rint",         "exp10",      "popcount", "clz",      "vload4",   "vstore4",   "get_local_id",
    "get_group_id", "shuffle",    "printf",   "prefetch", "as_float", "as_half",   "as_ushort",
    "vload_half",   "vstore_half"};

constexpr auto kReservedInCuda = [] {
  constexpr auto own = std::to_array<std::string_view>(
      {"threadIdx", "blockIdx", "blockDim", "gridDim", "warpSize", "dim3",    "half",   "wmma",
       "nvcuda",    "min",      "max",      "rsqrt",   "clock",    "printf",  "assert", "float2",
       "float4",    "int2",     "int4",     "uint2",   "uint4",    "double2", "rint",   "exp10"});
  std::array<std::string_view, kWordsOfCpp.size() + own.size()> all;
  std::ranges::copy(own, std::ranges::copy(kWordsOfCpp, all.begin()).out);
  return all;
}();

constexpr VectorWords kOpenClVectors = {
    .most_bytes = 128,
    .needs_alignment = false,
    .names = {{"int", "long"}, {"uint", "ulong"}, {"float", "double"}},
    .construct = "($T)($V)",
    .load = "vload$N(0, $P)",
    .store = "vstore$N($V, 0, $P)",
    .lanes = {".s0", ".s1", ".s2", ".s3", ".s4", ".s5", ".s6", ".s7", ".s8", ".s9", ".sa", ".sb",
              ".sc", ".sd", ".se", ".sf"},
};

constexpr VectorWords kCudaVectors = {
    .most_bytes = 16,
    .needs_alignment = true,
    .names = {{"int", "longlong"}, {"uint", "ulonglong"}, {"float", "double"}},
    .construct = "make_$T($V)",
    .load = "*(const $T*)($P)",
    .store = "*($T*)($P) = $V",
    .lanes = {".x", ".y", ".z", ".w"},
};

}  // namespace

Dialect opencl_c(const tir::TargetFacts& facts) {
  DeviceDialect device{
      .kernel = "__kernel void ",
      .kernel_of_known_size = "__kernel __attribute__((reqd_work_group_size($X, $Y, $Z)))\nvoid ",
      .of_global = "__global ",
      .of_shared = "__local ",
      .shared_memory = "__local ",
      .thread_index = {"get_local_id(0)", "get_local_id(1)", "get_local_id(2)"},
      .block_index = {"get_group_id(0)", "get_group_id(1)", "get_group_id(2)"},
      .block_barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
      .warp_barrier = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
      .dynamic_shared_is_parameter = true,
      .vectors = kOpenClVectors,
      .reserved = kReservedInOpenCl,
      .preambles =
          {
              {"double", "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"},
              {"sub_group_shuffle", "#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable\n"},
              {"intel_sub_group_shuffle", "#pragma OPENCL EXTENSION cl_intel_subgroups : enable\n"},
          },
  };
  const bool has_half = facts.has_extension("cl_khr_fp16");
  if (has_half)
    device.preambles.emplace_back("half", "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
  if (facts.subgroup_size != 0) {
    const bool is_intel = !facts.has_extension("cl_khr_subgroup_shuffle");
    device.shuffle = is_intel ? "intel_sub_group_shuffle" : "sub_group_shuffle";
    device.warp_barrier = "sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
    // Intel devices support several subgroup sizes and choose one unless the kernel requires a
    // size.
    const std::string demand =
        "__attribute__((intel_reqd_sub_group_size(" + std::to_string(facts.subgroup_size) + ")))\n";
    for (std::string* kernel : {&device.kernel, &device.kernel_of_known_size})
      if (is_intel) kernel->insert(std::string_view("__kernel ").size(), demand);
  }
  return {
      .of_helpers = "static inline",
      .restrict_word = "restrict",
      .integers = {{"char", "short", "int", "long"}, {"uchar", "ushort", "uint", "ulong"}},
      .of_int64 = "l",
      .names_math_by_type = false,
      .half = has_half ? HalfType::Native : HalfType::LoadedAndStored,
      .device = std::move(device),
  };
}

Dialect cuda_c() {
  return {
      .of_helpers = "static __device__ inline",
      .restrict_word = "__restrict__",
      .integers = {{"signed char", "short", "int", "long long"},
                   {"unsigned char", "unsigned short", "unsigned int", "unsigned long long"}},
      .of_int64 = "ll",
      .names_math_by_type = true,
      .device =
          DeviceDialect{
              .kernel = "extern \"C\" __global__ void ",
              .kernel_of_known_size = "extern \"C\" __global__ void __launch_bounds__($N$B)\n",
              .of_global = "",
              .of_shared = "",
              .shared_memory = "__shared__ ",
              .thread_index = {"threadIdx.x", "threadIdx.y", "threadIdx.z"},
              .block_index = {"blockIdx.x", "blockIdx.y", "blockIdx.z"},
              .block_barrier = "__syncthreads();",
              .warp_barrier = "__syncwarp();",
              .has_cuda_shuffles = true,
              .has_ptx = true,
              .has_tensor_cores = true,
              .vectors = kCudaVectors,
              .aligned = "__align__(16) ",
              .reserved = kReservedInCuda,
              .preambles =
                  {
                      {"wmma", "#include <mma.h>\n"},
                      {"INFINITY", "#define INFINITY __int_as_float(0x7f800000)\n"},
                      {"NAN", "#define NAN __int_as_float(0x7fc00000)\n"},
                  },
          },
  };
}

std::string value_type(const Dialect& dialect, DataType t) {
  if (t.is_bool()) return "bool";
  if (t.is_handle()) return "void*";
  if (t.is_float() && t.bits == 16 && dialect.half == HalfType::Native) return "half";
  if (t.is_floating()) return t.bits == 64 ? "double" : "float";
  return std::string(integer_type(dialect, t));
}

std::string memory_type(const Dialect& dialect, DataType t) {
  if (t.is_bool()) return std::string(dialect.integers[1][0]);
  if (t.is_float() && t.bits == 16 && dialect.half != HalfType::Bits) return "half";
  if (t.is_floating() && t.bits == 16) return std::string(dialect.integers[1][1]);
  return value_type(dialect, t);
}

std::string array_type(const Dialect& dialect, DataType t) {
  const bool is_only_loaded =
      t.is_float() && t.bits == 16 && dialect.half == HalfType::LoadedAndStored;
  return is_only_loaded ? std::string(dialect.integers[1][1]) : memory_type(dialect, t);
}

}  // namespace tenon::codegen
