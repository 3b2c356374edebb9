// NVIDIA's compiler for CUDA C as a library, found when the program runs: nothing of it is needed
// to build.
//
//   compile_cuda(code, "sm_90");     // fills in PTX and cubin, or says why there are none
#pragma once

#include <optional>
#include <string>

#include "tenon/codegen/kernels.h"

namespace tenon::codegen {

/// At most so many registers for a thread, if a number is given, in kernels whose text has no
/// bounds. Without a compiler, or with one that does not know the architecture, the code has no
/// binary, and why_no_binary says what is missing. Throws LowerError, with the compiler's message,
/// if it refuses the text.
void compile_cuda(KernelCode& code, const std::string& arch,
                  std::optional<int> max_registers = std::nullopt);

}  // namespace tenon::codegen
