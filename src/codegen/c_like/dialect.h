// The differences between the C-like languages (plain C, OpenCL C, CUDA C), as a record of
// properties. The common parts (statements, operators, the order of evaluation) are in the emitter.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/support/data_type.h"
#include "tenon/tir/target.h"

namespace tenon::codegen {

/// The representation of float16 in computations.
enum class HalfType : unsigned char {
  /// float16 is stored as 16 bits. Operations compute in float32 and round each result.
  Bits,
  /// Like Bits, but the language has functions that load and store float16.
  LoadedAndStored,
  /// A native type with arithmetic. Other operations still compute in float32.
  Native,
};

/// The language's vector types, and how vectors are loaded and stored.
struct VectorWords {
  /// The size of the largest vector, in bytes.
  int most_bytes;
  /// Whether the memory of a vector must be aligned to its size.
  bool needs_alignment;
  /// The name of a vector type without its number of lanes, by kind (signed, unsigned, float) and
  /// element width (32, 64 bits).
  std::string_view names[3][2];
  /// Templates of vector expressions. Placeholders: `$T` is the vector type, `$N` the number of
  /// lanes, `$P` the address, `$V` the vector or its lanes.
  std::string_view construct, load, store;
  /// The suffix that selects each lane of a vector, such as ".x".
  std::string_view lanes[16];
};

struct DeviceDialect {
  /// Prefix of a kernel's name. The second form states the block size: `$N` is the number of
  /// threads, `$X`, `$Y` and `$Z` are the extents, `$B` is ", 2" for two resident blocks per
  /// multiprocessor.
  std::string kernel;
  std::string kernel_of_known_size;
  /// Address space qualifiers of pointers to global and to shared memory.
  std::string_view of_global, of_shared;
  /// Qualifier of shared memory declarations.
  std::string_view shared_memory;
  std::string_view thread_index[3], block_index[3];
  /// The statements that synchronize all threads of a block, or of a warp.
  std::string_view block_barrier, warp_barrier;
  /// Whether shared memory with a size set at launch is passed as a kernel parameter.
  bool dynamic_shared_is_parameter = false;
  /// The function that returns the value of another thread of the warp; "" if the language has no
  /// such function. CUDA's functions also take a thread mask and a group width; other languages
  /// only take the thread's index in the warp.
  std::string_view shuffle = {};
  bool has_cuda_shuffles = false;
  /// Whether the text may contain PTX instructions.
  bool has_ptx = false;
  /// Whether matrix fragments are objects of nvcuda::wmma.
  bool has_tensor_cores = false;
  VectorWords vectors;
  /// Alignment specifier of memory that may hold vectors.
  std::string_view aligned = {};
  /// Reserved names in addition to those of C.
  std::span<const std::string_view> reserved;
  /// Pairs (word, preamble). A text that uses the word starts with the preamble.
  std::vector<std::pair<std::string_view, std::string_view>> preambles;
};

struct Dialect {
  /// Qualifiers of helper functions, such as "static inline".
  std::string_view of_helpers;
  /// Qualifier of a pointer without aliases.
  std::string_view restrict_word;
  /// The names of int8 to int64 and uint8 to uint64.
  std::string_view integers[2][4];
  /// Suffix of int64 literals. The suffix of uint64 literals is `u` followed by this one.
  std::string_view of_int64;
  /// Whether the float32 versions of math functions have the suffix `f`; otherwise one name serves
  /// all types.
  bool names_math_by_type;
  HalfType half = HalfType::Bits;
  /// Properties of the kernel language; nullopt in plain C.
  std::optional<DeviceDialect> device = std::nullopt;
};

inline const Dialect kPlainC = {
    .of_helpers = "static inline",
    .restrict_word = "restrict",
    .integers = {{"int8_t", "int16_t", "int32_t", "int64_t"},
                 {"uint8_t", "uint16_t", "uint32_t", "uint64_t"}},
    .of_int64 = "ll",
    .names_math_by_type = true,
};

/// Returns OpenCL C 1.2 with the extensions that the target names.
Dialect opencl_c(const tir::TargetFacts& facts);
/// Returns CUDA C++, as NVRTC compiles it without any header.
Dialect cuda_c();

/// Returns the type of one lane of a value in computations. It is bool for bool. For float16 and
/// bfloat16 it is float32, unless float16 is native to the language.
std::string value_type(const Dialect& dialect, DataType t);
/// Returns the type of an element in memory: a byte for bool, and 16 bits or half for 16-bit
/// floats.
std::string memory_type(const Dialect& dialect, DataType t);
/// Returns the element type of array declarations. It differs from memory_type if half can only be
/// loaded and stored, because arrays of such a half cannot be declared.
std::string array_type(const Dialect& dialect, DataType t);

}  // namespace tenon::codegen
