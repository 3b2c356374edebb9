// Optimization of emitted LLVM IR, and generation of machine code.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <cstdint>
#include <string>

#include "tenon/support/error.h"
#include "tenon/tir/verify.h"

namespace tenon::codegen {

/// Marks functions that are parts of a longer one. If there are such functions, equal ones are
/// merged first, since chains of similar stages have many.
inline constexpr const char* kPartAttribute = "tenon-part";

/// The origin of the code to optimize: this emitter only, or imported functions as well, which are
/// compiled from C or C++.
enum class CodeOrigin : std::uint8_t { Emitted, WithImports };

/// Returns `opt_level`, or 0 if a function has more blocks than the passes can process in
/// reasonable time: LLVM's queries about every use of a condition and every loop take quadratic
/// time. 288 copies of an iteration with guards have 157,000 blocks, which take minutes.
int affordable_level(const llvm::Module& module, int opt_level);

/// Runs few passes for emitted code, and LLVM's pipeline of the level, without its vectorizers, for
/// imported code. The result is verified.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, int opt_level, CodeOrigin origin);

/// A module that LLVM's verifier rejects: a fault of the emitter or of LLVM itself.
struct MalformedModule : InternalError {
  MalformedModule(const std::string& state, const std::string& problems, std::string text);
  /// The module, printed, for a report.
  std::string module_text;
};

/// Throws MalformedModule unless the module is well-formed. `state` is the last step: "emitted".
void verify(const llvm::Module& module, const std::string& state);

/// Returns object bytes or assembly. The module is unusable afterwards.
std::string generate_code(llvm::Module& module, llvm::TargetMachine& machine,
                          llvm::CodeGenFileType type);

}  // namespace tenon::codegen
