// The kernels that functions launch, as a compiled module carries them: what they take, their text,
// and where the device's compiler was at hand, what it made of it.
//
//   KernelCode kernels = emit_kernels(funcs, facts);          // c_like/kernels.h
//   compile({{.module = host, .target = cpu, .kernels = kernels}});
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tenon/runtime/device.h"
#include "tenon/runtime/kernel_spec.h"
#include "tenon/runtime/spec.h"

namespace tenon::codegen {

struct KernelCode {
  runtime::DeviceType device;
  /// In the order in which launches count them.
  std::vector<runtime::KernelSpec> specs = {};
  /// In the same order: what launches call them, and what they do with their parameters.
  std::vector<runtime::FunctionSpec> functions = {};
  /// In the language of the device, which get_source calls by the device's name.
  std::string text = {};
  /// Of CUDA only, where a compiler was found.
  std::string ptx = {};
  /// The cubin for CUDA. Empty for OpenCL, whose driver compiles the text.
  std::string binary = {};
  /// Why there is no binary where there should be one.
  std::string why_no_binary = {};
};

/// The number of the kernel that launches call so. Precondition: there is one.
std::size_t number_of_kernel(const KernelCode& code, std::string_view name);

/// What kernel_source can give: the text of each device, and "ptx" of CUDA's.
std::vector<std::string> kernel_source_kinds(const std::vector<KernelCode>& all);
/// Throws RuntimeError where there is no PTX because no compiler was found.
std::string kernel_source(const std::vector<KernelCode>& all, std::string_view kind);

}  // namespace tenon::codegen
