// Optimization of emitted LLVM IR, and generation of machine code.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

#include "tenon/support/error.h"
#include "tenon/tir/verify.h"

namespace tenon::codegen {

/// The attribute of functions that are parts of a longer function. Equal parts are merged before
/// optimization, since chains of similar stages have many equal parts.
inline constexpr const char* kPartAttribute = "tenon-part";

/// Returns `opt_level`, or 0 if a function has more blocks than the passes can process in
/// reasonable time. LLVM's queries about uses of conditions and about loops take quadratic time:
/// 288 copies of an iteration with guards have 157,000 blocks and take minutes.
int affordable_level(const llvm::Module& module, int opt_level);

/// Optimizes and verifies the module. Emitted code only needs a few passes. Functions imported from
/// C or C++ need LLVM's default pipeline for `opt_level`, which runs without its vectorizers.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, int opt_level, bool has_imports);

/// Throws InternalError if LLVM's verifier rejects the module, because of a fault in the emitter or
/// in LLVM. `state` names the last step, such as "emitted".
void verify(const llvm::Module& module, const std::string& state);

/// Returns object code or assembly. The module is unusable afterwards.
std::string generate_code(llvm::Module& module, llvm::TargetMachine& machine,
                          llvm::CodeGenFileType type);

}  // namespace tenon::codegen
