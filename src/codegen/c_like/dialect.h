// What differs between the languages that are written like C (plain C, OpenCL C, CUDA C), as a
// record of facts. What does not differ (statements, operators, the order of evaluation) is in the
// emitter.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/support/data_type.h"
#include "tenon/tir/target.h"

namespace tenon::codegen {

struct DeviceDialect;

/// How float16 is computed with.
enum class HalfType : unsigned char {
  /// Its bits are in memory, values are float32, rounded after every operation.
  Bits,
  /// The same, but the language has functions to load and to store it.
  LoadedAndStored,
  /// It is a type like others. What is no arithmetic is computed in float32 all the same.
  Native,
};

struct Dialect {
  std::string_view name;
  /// Stands before helper functions.
  std::string_view of_helpers;
  /// Says of a pointer that nothing else points there.
  std::string_view restrict_word;
  /// The names of int8 to int64 and uint8 to uint64.
  std::string_view integers[2][4];
  /// Behind the digits of a uint64.
  std::string_view of_uint64;
  /// Functions of mathematics have an `f` at the end of their names where they take float32;
  /// otherwise one name is for all types.
  bool names_math_by_type;
  HalfType half = HalfType::Bits;
  /// What kernels are written with; plain C has none.
  const DeviceDialect* device = nullptr;
};

/// How memory is read and written by vectors.
struct VectorWords {
  /// Of the largest vector.
  int most_bytes;
  /// Whether the memory of a vector must be aligned to its size.
  bool needs_alignment;
  /// What comes before the number of lanes, of signed and unsigned integers and floats of 32 and of
  /// 64 bits.
  std::string_view names[3][2];
  /// With `$T` for the vector's type, `$N` for its lanes, `$P` for the
  /// address, `$V` for the vector, or its lanes.
  std::string_view construct, load, store;
  /// Behind a vector's name.
  std::string_view lanes[16];
};

struct DeviceDialect {
  /// Stands before a kernel's name, and the same with the threads of its blocks: `$N` is their
  /// number, `$X`, `$Y` and `$Z` are their extents, `$B` is ", 2" where two blocks are to run on a
  /// multiprocessor.
  std::string_view kernel;
  std::string_view kernel_of_known_size;
  /// What pointers to memory of the device and of a block are marked with.
  std::string_view of_global, of_shared;
  /// Stands before the declaration of memory of a block.
  std::string_view shared_memory;
  std::string_view thread_index[3], block_index[3];
  /// Statements: all threads of a block, or of a warp, wait for each other.
  std::string_view block_barrier, warp_barrier;
  /// Whether shared memory whose size the launch says is a parameter.
  bool dynamic_shared_is_parameter = false;
  /// The function that gives a thread the value of another one of its warp; "" where there is none.
  /// CUDA's take the mask of threads and the width of groups, the others a thread of the warp.
  std::string_view shuffle = {};
  bool has_cuda_shuffles = false;
  /// Whether instructions of PTX can be written into the text.
  bool has_ptx = false;
  /// Whether fragments of matrices are objects of nvcuda::wmma.
  bool has_tensor_cores = false;
  /// Stands before a loop that the device's compiler is to unroll.
  std::string_view unroll = {};
  const VectorWords* vectors = nullptr;
  /// Stands before memory that vectors may be in.
  std::string_view aligned = {};
  /// Names that mean something, besides those of C.
  std::span<const std::string_view> reserved;
  /// Stand before all else, as far as the text has the word.
  std::span<const std::pair<std::string_view, std::string_view>> preambles;
};

inline constexpr Dialect kPlainC = {
    .name = "c",
    .of_helpers = "static inline",
    .restrict_word = "restrict",
    .integers = {{"int8_t", "int16_t", "int32_t", "int64_t"},
                 {"uint8_t", "uint16_t", "uint32_t", "uint64_t"}},
    .of_uint64 = "ull",
    .names_math_by_type = true,
};

/// OpenCL C 1.2 without extensions.
extern const Dialect kOpenClC;
/// CUDA C++, as NVRTC compiles it without any header.
extern const Dialect kCudaC;

/// OpenCL C with the extensions that the target names. It lives as long as the copies of its parts
/// are not moved.
struct OpenClDialect {
  explicit OpenClDialect(const tir::TargetFacts& facts);
  OpenClDialect(const OpenClDialect&) = delete;
  OpenClDialect& operator=(const OpenClDialect&) = delete;

  std::string kernel, kernel_of_known_size;
  std::vector<std::pair<std::string_view, std::string_view>> preambles;
  DeviceDialect device;
  Dialect dialect;
};

/// What a value of one lane is while it is computed with: bool as bool, float16 and bfloat16 as
/// float32, which holds all of theirs, unless float16 is a type of the language.
std::string value_type(const Dialect& dialect, DataType t);
/// What it is in memory: a bool is a byte, 16 bits of a float are their bits, or a half.
std::string memory_type(const Dialect& dialect, DataType t);
/// What arrays of it are declared as: a half that is only loaded and stored is none.
std::string array_type(const Dialect& dialect, DataType t);

}  // namespace tenon::codegen
