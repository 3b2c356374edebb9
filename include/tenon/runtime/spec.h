// What a generated function demands of its arguments. Code generation writes it down, an exported
// library carries it as text, and every call is checked against it before the function runs,
// whether it was compiled in this process or loaded:
//
//   argument 2 `B` of `matmul`: expected float32[1024, 512], got float32[1024, 511]
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tenon/runtime/device.h"
#include "tenon/support/data_type.h"

namespace tenon::runtime {

/// A size with a name: the same wherever the name appears in the function, be it as an extent, a
/// stride or the integer parameter of that name. It must fit a signed integer of `bits` bits.
struct Symbol {
  std::string name;
  int bits = 32;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

/// Any size: the generated code does not rely on it, or checks it itself.
struct AnySize {
  friend bool operator==(const AnySize&, const AnySize&) = default;
};

/// An extent or a stride: a number, a size that has a name and one value in each call, or any.
using Size = std::variant<std::int64_t, Symbol, AnySize>;

/// What the function does with the array.
enum class Access { Read, Write, ReadWrite };

/// What an array must be.
struct ArraySpec {
  DataType dtype;
  std::vector<Size> shape = {};
  /// In elements. Not given: compact, row-major. A dimension of extent 1 may have any stride.
  std::optional<std::vector<Size>> strides = std::nullopt;
  /// An array that is written shares no memory with another argument, nor one of its elements with
  /// another.
  Access access = Access::Read;
  /// What the address of element 0 is a multiple of, in bytes.
  int alignment = 1;
  DeviceType device = DeviceType::Cpu;
  /// Whether DLPack's byte_offset must be 0.
  bool zero_byte_offset = false;
  /// 32: the code computes positions of elements with 32 bits, so that larger arrays are refused.
  int index_bits = 64;
  friend bool operator==(const ArraySpec&, const ArraySpec&) = default;
};

/// An integer, a floating number or, of type Handle(), an opaque pointer.
struct ScalarSpec {
  DataType dtype;
  friend bool operator==(const ScalarSpec&, const ScalarSpec&) = default;
};

/// A parameter: an array, or a scalar.
struct ParamSpec {
  std::string name;
  std::variant<ArraySpec, ScalarSpec> type;
  friend bool operator==(const ParamSpec&, const ParamSpec&) = default;
};

/// What a function demands of its arguments, and of the processor.
struct FunctionSpec {
  std::string name;
  /// The linker's name of the compiled function.
  std::string symbol;
  std::vector<ParamSpec> params = {};
  /// What the code needs of a processor, of those features that can be asked for where it is loaded
  /// (processor.h): "avx512f". In alphabetical order.
  std::vector<std::string> features = {};
  friend bool operator==(const FunctionSpec&, const FunctionSpec&) = default;
};

/// "float32[1024, n]" or "int32": how error messages write a parameter's type.
std::string describe(const ParamSpec& param);

/// The functions as the text that an exported library carries under the name tenon_module_manifest.
std::string to_manifest(std::span<const FunctionSpec> functions);
/// The inverse. Throws RuntimeError, naming the line, for a text that is none or of another
/// version.
std::vector<FunctionSpec> parse_manifest(std::string_view text);

}  // namespace tenon::runtime
