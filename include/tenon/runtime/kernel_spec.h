// The parameters of a module's kernels, and their text form in a compiled module: one line per
// kernel, in the order in which launches number them.
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

/// The requirements for launching a kernel.
struct KernelSpec {
  /// The name in the source.
  std::string name;
  /// The types of scalars, or Handle() for a pointer to device memory. Float16 and bfloat16 are
  /// passed as float32, bool as uint8.
  std::vector<DataType> params = {};
  /// Whether the kernel uses shared memory whose size is given at launch.
  bool has_dynamic_shared = false;
  /// For OpenCL: the sub-group size that the kernel requires, because its threads exchange values
  /// within a sub-group; 0: no requirement.
  int subgroup_size = 0;
  friend bool operator==(const KernelSpec&, const KernelSpec&) = default;
};

/// Returns the text form.
std::string to_kernel_manifest(std::span<const KernelSpec> kernels);
/// Parses the text form. RuntimeError, naming the line, for malformed text or another version.
std::vector<KernelSpec> parse_kernel_manifest(std::string_view text);

}  // namespace tenon::runtime
