// From emitted to optimised LLVM IR, and on to machine code.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <cstdint>
#include <string>

#include "tenon/support/error.h"
#include "tenon/tir/verify.h"

namespace tenon::codegen {

/// Marks functions that are parts of a longer one. Where there are such, equal functions are merged
/// first: chains of like stages have many.
inline constexpr const char* kPartAttribute = "tenon-part";

/// What `optimize` works on: code of our own emitter only, or imported functions as well, which are
/// somebody's C or C++.
enum class CodeOrigin : std::uint8_t { Emitted, WithImports };

/// The level, or 0 for a module with a function of so many blocks that what the levels do would
/// take minutes: what LLVM asks of every use of a condition and of every loop grows with the square
/// of their number. 288 copies of an iteration with guards have 157,000 blocks.
int affordable_level(const llvm::Module& module, int opt_level);

/// Few passes for emitted code; LLVM's pipeline of the level, without its vectorizers, for imported
/// code. The result is verified.
void optimize(llvm::Module& module, llvm::TargetMachine& machine, int opt_level, CodeOrigin origin);

/// A module that LLVM's verifier refuses: a fault of the emitter or of LLVM itself.
struct MalformedModule : InternalError {
  MalformedModule(const std::string& state, const std::string& problems, std::string text);
  /// The module, printed, for a report.
  std::string module_text;
};

/// MalformedModule unless the module is well-formed. `state` says what has been done to it:
/// "emitted".
void verify(const llvm::Module& module, const std::string& state);

/// Object bytes or assembly. Changes the module; it is good for nothing else afterwards.
std::string generate_code(llvm::Module& module, llvm::TargetMachine& machine,
                          llvm::CodeGenFileType type);

}  // namespace tenon::codegen
