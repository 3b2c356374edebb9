// Functions that are linked into a program and found there without loading a library.
#pragma once

#include <llvm/IR/Module.h>

#include "tenon/runtime/spec.h"

namespace tenon::codegen {

/// Makes the program register the functions before main (c_api.h, tenon_register_system_library).
/// Precondition: all of them are defined.
void register_system_library(llvm::Module& module, const std::string& prefix,
                             const std::vector<runtime::FunctionSpec>& functions);

}  // namespace tenon::codegen
