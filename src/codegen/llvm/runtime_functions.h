// The runtime's functions (c_api.h) as LLVM declares them.
#pragma once

#include <llvm/IR/Module.h>

#include <string_view>

namespace tenon::codegen {

/// Its types are those that runtime/symbols.h reads off c_api.h.
llvm::FunctionCallee declare_runtime_function(llvm::Module& module, std::string_view name);

}  // namespace tenon::codegen
