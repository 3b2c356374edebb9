// External LLVM IR that becomes part of a module: IR text or files, and C that clang compiles to
// IR.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "codegen/llvm/llvm_artifact.h"

namespace tenon::codegen {

/// Links LLVM IR (a text, or the path of a .ll or .bc file) into the module; its definitions become
/// the module's own. Throws RuntimeError with LLVM's message and line.
void import_llvm(llvm::Module& module, const std::string& source);

/// Imports C source (a text, or the path of a .c file), which the C compiler compiles for the
/// common target of `code`. If clang compiles it to IR of this version of LLVM, the IR is linked
/// into the module, where it can be inlined; otherwise the source becomes an object of `code`.
void import_c(llvm::Module& module, const std::string& source, LlvmCode& code);

}  // namespace tenon::codegen
