// Specifications: a generated function's requirements on its arguments. The code generator produces
// them, an exported library carries them as text, and every call is checked against them, whether
// the code was compiled in this process or loaded:
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

/// A named size. It has one value per call, wherever the name occurs: as an extent, a stride, or
/// the integer parameter of that name. It must fit a signed integer of `bits` bits.
struct Symbol {
  std::string name;
  int bits = 32;
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

/// Any size is accepted. The generated code either does not depend on the size or checks it.
using AnySize = std::monostate;

/// An extent or stride: a constant, a named size, or any size.
using Size = std::variant<std::int64_t, Symbol, AnySize>;

/// The accesses of the function to the array.
enum class Access { Read, Write, ReadWrite };

/// The requirements on an array.
struct ArraySpec {
  DataType dtype;
  std::vector<Size> shape = {};
  /// Strides in elements. Nullopt: compact, row-major. A dimension of extent 1 may have any stride.
  std::optional<std::vector<Size>> strides = std::nullopt;
  /// A written array must not overlap another argument, and its elements must not overlap one
  /// another.
  Access access = Access::Read;
  /// Required alignment in bytes of element 0.
  int alignment = 1;
  DeviceType device = DeviceType::Cpu;
  /// Whether DLPack's byte_offset must be 0.
  bool zero_byte_offset = false;
  /// Number of bits in which the code computes indices. If it is 32, arrays whose indices would
  /// overflow are refused.
  int index_bits = 64;
  friend bool operator==(const ArraySpec&, const ArraySpec&) = default;
};

/// The type of a scalar: integer, float or, for Handle(), an opaque pointer.
using ScalarSpec = DataType;

/// A parameter: an array or a scalar.
struct ParamSpec {
  std::string name;
  std::variant<ArraySpec, ScalarSpec> type;
  friend bool operator==(const ParamSpec&, const ParamSpec&) = default;
};

/// A function's requirements on its arguments and on the processor.
struct FunctionSpec {
  std::string name;
  /// The symbol of the compiled function.
  std::string symbol;
  std::vector<ParamSpec> params = {};
  /// Required processor features, restricted to those that can be queried at run time
  /// (processor.h): "avx512f". In alphabetical order.
  std::vector<std::string> features = {};
  friend bool operator==(const FunctionSpec&, const FunctionSpec&) = default;
};

/// Returns the sizes as shown in error messages: "[1024, n]".
std::string describe(std::span<const Size> sizes);
/// Returns the parameter's type as shown in error messages: "float32[1024, n]", "int32".
std::string describe(const ParamSpec& param);

/// Returns the text form of the functions, which an exported library carries as
/// tenon_module_manifest.
std::string to_manifest(std::span<const FunctionSpec> functions);
/// Parses the text form. RuntimeError, naming the line, for malformed text or another version.
std::vector<FunctionSpec> parse_manifest(std::string_view text);

}  // namespace tenon::runtime
