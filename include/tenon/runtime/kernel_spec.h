// What the kernels of a module take, and the text in which a compiled module carries it: a line for
// each kernel, in the order in which launches count them.
//
//   tenon-kernels 1
//   add_kernel0 pointer pointer pointer int32
//   softmax_kernel0 pointer pointer shared
//   sum_kernel0 pointer pointer subgroup16
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/support/data_type.h"

namespace tenon::runtime {

/// What launching a kernel must give it.
struct KernelSpec {
  /// In the source.
  std::string name;
  /// In order: the type of a scalar, or Handle() for a pointer to memory of the device. A float16
  /// or bfloat16 is given as float32, a bool as uint8.
  std::vector<DataType> params = {};
  /// Whether it has shared memory whose size is given at the launch.
  bool has_dynamic_shared = false;
  /// Of OpenCL: how many threads of a block exchange values, as a sub-group of so many; 0: none do.
  int subgroup_size = 0;
  friend bool operator==(const KernelSpec&, const KernelSpec&) = default;
};

/// The text that describes the kernels.
std::string to_kernel_manifest(std::span<const KernelSpec> kernels);
/// The inverse. Throws RuntimeError, naming the line, for a text that is none or of another
/// version.
std::vector<KernelSpec> parse_kernel_manifest(std::string_view text);

}  // namespace tenon::runtime
