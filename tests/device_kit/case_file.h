// Case files of the device kit: the arguments of a compiled module and the expected results.
// device_kit_prepare writes them on the machine with the compiler, device_kit reads them on the
// machine with the device.
//
//   write_case(folder, spec, bytes);              // NAME.json and NAME.bin beside NAME.so
//   CaseSpec spec = read_case(folder, "matmul_33x17x9");
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tenon::device_kit {

struct CaseArgument {
  std::string name;
  /// "float32". A scalar has no extents, and is passed as `integer` or `real`.
  std::string dtype;
  bool is_array = false;
  /// Extents, and strides in elements; no strides means row-major.
  std::vector<std::int64_t> shape = {}, strides = {};
  std::int64_t integer = 0;
  double real = 0;
  /// The position of an array in NAME.bin: its initial contents, followed by the expected ones.
  std::int64_t offset = 0, bytes = 0;
};

/// One call of the function.
struct CaseCall {
  std::vector<CaseArgument> arguments;
};

struct CaseSpec {
  std::string name;
  /// "topi", "tensor_cores", "random", "blocks", "reductions".
  std::string group;
  /// Relative and absolute, for floating-point results. 0 demands equal values; any NaN equals any.
  double tolerance = 0;
  /// Whether 0 equals -0.
  bool zeros_alike = true;
  std::vector<CaseCall> calls = {};
  /// The program and its schedule, to reproduce a failure.
  std::string description = {};
};

void write_case(const std::string& folder, const CaseSpec& spec,
                const std::vector<std::byte>& bytes);
/// Throws RuntimeError, naming the file, for one that cannot be read.
CaseSpec read_case(const std::string& folder, const std::string& name);
std::vector<std::byte> read_case_bytes(const std::string& folder, const std::string& name);
/// The cases of a folder, in alphabetical order.
std::vector<std::string> case_names(const std::string& folder);

}  // namespace tenon::device_kit
