#include "tenon/codegen/kernels.h"

#include <algorithm>

#include "tenon/support/error.h"

namespace tenon::codegen {

std::size_t number_of_kernel(const KernelCode& code, std::string_view name) {
  for (std::size_t n = 0; n < code.functions.size(); ++n)
    if (code.functions[n].name == name) return n;
  internal_error("a launch of `" + std::string(name) + "`, of which the module has no kernel");
}

std::vector<std::string> kernel_source_kinds(const std::vector<KernelCode>& all) {
  std::vector<std::string> kinds;
  const auto add = [&](const std::string& kind) {
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  };
  for (const KernelCode& code : all) {
    add(to_string(code.device));
    if (code.device == runtime::DeviceType::Cuda) add("ptx");
  }
  return kinds;
}

std::string kernel_source(const std::vector<KernelCode>& all, std::string_view kind) {
  std::string text;
  for (const KernelCode& code : all) {
    if (kind == to_string(code.device)) text += code.text;
    if (kind != "ptx" || code.device != runtime::DeviceType::Cuda) continue;
    if (code.ptx.empty()) throw RuntimeError("there is no PTX: " + code.why_no_binary);
    text += code.ptx;
  }
  return text;
}

}  // namespace tenon::codegen
