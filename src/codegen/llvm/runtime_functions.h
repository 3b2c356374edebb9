// LLVM declarations of the runtime's functions (c_api.h).
#pragma once

#include <llvm/IR/Module.h>

#include <string_view>

namespace tenon::codegen {

/// Declares a function with the types that runtime/symbols.h derives from c_api.h.
llvm::FunctionCallee declare_runtime_function(llvm::Module& module, std::string_view name);

}  // namespace tenon::codegen
