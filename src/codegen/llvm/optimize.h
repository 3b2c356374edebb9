// From emitted to optimised LLVM IR, and on to machine code.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace tenon::codegen {

void optimize(llvm::Module& module, llvm::TargetMachine& machine, int opt_level);

/// Object bytes or assembly. Changes the module; it is good for nothing else afterwards.
std::string generate_code(llvm::Module& module, llvm::TargetMachine& machine,
                          llvm::CodeGenFileType type);

}  // namespace tenon::codegen
