// The plain facts of a target: what lowering and code generation need to know, no more. driver
// parses the strings.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tir {

/// What code is made for, and in which language.
enum class TargetKind : unsigned char { Llvm, C, Cuda, OpenCl };

/// The vector registers that loops are made to fit.
struct VectorRegisters {
  /// The width of one. 0: there are none, vectors keep the lanes that they have.
  int bits = 0;
  int count = 0;
  /// How many of them sums may occupy; the others hold what is added and multiplied. 0: sums stay
  /// in memory.
  int for_sums = 0;

  friend bool operator==(const VectorRegisters&, const VectorRegisters&) = default;
};

/// Bytes of the data caches that one core has for itself.
struct CacheBytes {
  int l1 = 32 * 1024, l2 = 512 * 1024;

  friend bool operator==(const CacheBytes&, const CacheBytes&) = default;
};

/// What passes and generators may know of a target.
struct TargetFacts {
  TargetKind kind = TargetKind::Llvm;
  std::string triple = "";                 // empty: this host's
  std::string cpu = "";                    // resolved: never "native"
  std::vector<std::string> features = {};  // "+avx512f", "-fma"
  VectorRegisters vector_registers = {.bits = 128, .count = 16, .for_sums = 8};  // the widest
  CacheBytes caches = {};  // what schedules size their tiles by
  int cores = 1;           // that share the work of parallel loops
  std::string arch = "";   // "sm_90"
  int max_threads_per_block = 1024;
  int warp_size = 32;
  int max_shared_bytes = 48 * 1024;
  /// Registers of 32 bits that a thread may use. None: as many as the device's compiler likes.
  std::optional<int> max_registers = std::nullopt;
  /// Of OpenCL: the extensions that kernels may use ("cl_khr_fp16"), and how many threads of a
  /// block exchange values by them, 0 for none.
  std::vector<std::string> extensions = {};
  int subgroup_size = 0;
  bool fast_math = false;
  /// The functions are found, once linked into a program, as the system library of this prefix.
  std::optional<std::string> system_library = std::nullopt;

  /// Whether the device has OpenCL's extension of that name.
  bool has_extension(std::string_view name) const {
    for (const std::string& each : extensions)
      if (each == name) return true;
    return false;
  }
  /// Whether kernels are made.
  bool is_gpu() const { return kind == TargetKind::Cuda || kind == TargetKind::OpenCl; }
};

}  // namespace tenon::tir
