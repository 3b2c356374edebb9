// External LLVM IR that becomes part of a module: IR text or files, and C that clang compiles to
// IR.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "tenon/codegen/imports.h"
#include "tenon/tir/target.h"

namespace tenon::codegen {

/// Returns the target in the form that C compilers use.
CTarget c_target_of(const tir::TargetFacts& target);

/// Links LLVM IR (a text, or the path of a .ll or .bc file) into the module; its definitions become
/// the module's own. Throws RuntimeError with LLVM's message and line.
void import_llvm(llvm::Module& module, const std::string& source);

/// Links bitcode that clang compiled from C into the module. Returns false, and leaves the module
/// unchanged, if the bitcode was written by a newer version of LLVM.
bool import_c_bitcode(llvm::Module& module, const std::string& bitcode);

}  // namespace tenon::codegen
