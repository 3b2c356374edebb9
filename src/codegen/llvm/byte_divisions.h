// Divisions of vectors of bytes, which LLVM's code for x86 gets wrong (llvm_faults.md).
#pragma once

#include <llvm/IR/Module.h>

namespace tenon::codegen {

/// Quotients and remainders of vectors of bytes by constants are computed in 16 bits, as LLVM's
/// code for x86 would do by itself. To be called last: what optimises narrows them again.
void widen_byte_divisions(llvm::Module& module);

}  // namespace tenon::codegen
