// NVIDIA's CUDA C compiler NVRTC, loaded at run time; it is not needed to build.
//
//   compile_cuda(code, "sm_90");     // fills in PTX and cubin, or reports why it cannot
#pragma once

#include <optional>
#include <string>

#include "tenon/codegen/kernels.h"

namespace tenon::codegen {

/// Compiles the text of `code` to PTX and a cubin. `max_registers` limits the registers per thread
/// in kernels without launch bounds. If there is no compiler, or it does not know the architecture,
/// the code gets no binary and `why_no_binary` states the reason. LowerError, with the compiler's
/// message, if it rejects the text.
void compile_cuda(KernelCode& code, const std::string& arch,
                  std::optional<int> max_registers = std::nullopt);

}  // namespace tenon::codegen
