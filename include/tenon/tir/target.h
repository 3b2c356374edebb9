// The properties of a target that lowering and code generation need. driver parses target strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tir {

/// The processor or device, and the language of the generated code.
enum class TargetKind : unsigned char { Llvm, C, Cuda, OpenCl };

/// The vector registers for which loops are tiled.
struct VectorRegisters {
  /// Width of a register in bits. 0: no vector registers; vectors keep their number of lanes.
  int bits = 0;
  int count = 0;
  /// Number of registers that accumulators may occupy; the others hold operands. 0: accumulators
  /// stay in memory.
  int for_sums = 0;

  friend bool operator==(const VectorRegisters&, const VectorRegisters&) = default;
};

/// Sizes in bytes of the data caches that are private to a core.
struct CacheBytes {
  int l1 = 32 * 1024, l2 = 512 * 1024;

  friend bool operator==(const CacheBytes&, const CacheBytes&) = default;
};

/// The products that tile registers compute (Intel AMX): of int8 and uint8 accumulated in int32,
/// and of bfloat16 accumulated in float32.
struct TileProducts {
  bool of_bytes = false, of_bfloats = false;

  friend bool operator==(const TileProducts&, const TileProducts&) = default;
};

/// Properties of a target, for passes and code generators.
struct TargetFacts {
  TargetKind kind = TargetKind::Llvm;
  std::string triple = "";                 // empty: the host's triple
  std::string cpu = "";                    // a name, never "native"
  std::vector<std::string> features = {};  // such as "+avx512f" and "-fma"
  /// The widest vector registers that the target has.
  VectorRegisters vector_registers = {.bits = 128, .count = 16, .for_sums = 8};
  TileProducts tile_products = {};
  CacheBytes caches = {};  // used to choose tile sizes
  int cores = 1;           // cores that run parallel loops
  std::string arch = "";   // CUDA architecture, such as "sm_90"
  int max_threads_per_block = 1024;
  int warp_size = 32;
  int max_shared_bytes = 48 * 1024;
  /// Maximum number of 32-bit registers per thread. Nullopt: chosen by the device's compiler.
  std::optional<int> max_registers = std::nullopt;
  /// OpenCL extensions that kernels may use ("cl_khr_fp16").
  std::vector<std::string> extensions = {};
  /// Number of threads of a sub-group that can exchange values; 0 if they cannot.
  int subgroup_size = 0;
  bool fast_math = false;
  /// Name prefix under which a program finds the functions once they are linked into it.
  std::optional<std::string> system_library = std::nullopt;

  /// Whether the device has this OpenCL extension.
  bool has_extension(std::string_view name) const {
    for (const std::string& each : extensions)
      if (each == name) return true;
    return false;
  }
  /// Whether functions are compiled to device kernels.
  bool is_gpu() const { return kind == TargetKind::Cuda || kind == TargetKind::OpenCl; }
};

}  // namespace tenon::tir
