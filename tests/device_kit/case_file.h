// A case of the device kit as files: what a compiled module is called with, and what it must leave.
// device_kit_prepare writes them where the compiler is, device_kit reads them where the device is.
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
  /// Elements; strides are in elements, none: row-major.
  std::vector<std::int64_t> shape = {}, strides = {};
  std::int64_t integer = 0;
  double real = 0;
  /// Of an array, in NAME.bin: what it is, and from `bytes` behind that on, what it must become.
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
  /// Of floating results, relative and absolute. 0: the same value, all NaN alike.
  double tolerance = 0;
  /// Whether 0 and -0 are the same.
  bool zeros_alike = true;
  std::vector<CaseCall> calls = {};
  /// For people.
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
