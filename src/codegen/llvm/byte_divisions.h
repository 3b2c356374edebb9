// Divisions of byte vectors, for which LLVM generates wrong code on x86 (llvm_faults.md).
#pragma once

#include <llvm/IR/Module.h>

namespace tenon::codegen {

/// Computes quotients and remainders of byte vectors by constants in 16 bits. Must be the last
/// pass, because InstCombine would narrow them again.
void widen_byte_divisions(llvm::Module& module);

}  // namespace tenon::codegen
