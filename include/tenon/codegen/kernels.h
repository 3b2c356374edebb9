// The kernels of a compiled module: their parameters, their text and, if the device's compiler is
// available, their binary.
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
  /// The parameters of the kernels. The index of a kernel is the number by which launches refer to
  /// it.
  std::vector<runtime::KernelSpec> specs = {};
  /// The name of each kernel and the accesses to its parameters, in the order of `specs`.
  std::vector<runtime::FunctionSpec> functions = {};
  /// Source in the device's language. codegen::kernel_source returns it for the device's name.
  std::string text = {};
  /// The PTX text. Empty unless the device is CUDA and a compiler was found.
  std::string ptx = {};
  /// The cubin. Empty unless the device is CUDA. The OpenCL driver compiles the text instead.
  std::string binary = {};
  /// The reason why a CUDA binary is missing.
  std::string why_no_binary = {};
};

/// Returns the number of the kernel with this name. Precondition: it exists.
std::size_t number_of_kernel(const KernelCode& code, std::string_view name);

/// Returns the kinds that kernel_source accepts: the text of each device, and "ptx" for CUDA.
std::vector<std::string> kernel_source_kinds(const std::vector<KernelCode>& all);
/// Returns the source of this kind. RuntimeError if PTX is missing because no compiler was found.
std::string kernel_source(const std::vector<KernelCode>& all, std::string_view kind);

}  // namespace tenon::codegen
