// Wrappers that hide the differences between the supported versions of LLVM (19 and later).
#pragma once

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace tenon::codegen {

const llvm::Target* look_up_target(const llvm::Triple& triple, std::string& error);
llvm::MCSubtargetInfo* create_subtarget(const llvm::Target& target, const llvm::Triple& triple,
                                        const std::string& cpu, const std::string& features);
/// Returns a TargetMachine for position-independent code.
llvm::TargetMachine* create_machine(const llvm::Target& target, const llvm::Triple& triple,
                                    const std::string& cpu, const std::string& features,
                                    const llvm::TargetOptions& options,
                                    llvm::CodeGenOptLevel level);
void set_triple(llvm::Module& module, const llvm::Triple& triple);

/// Returns not_intrinsic for an unknown name.
llvm::Intrinsic::ID find_intrinsic(llvm::StringRef name);
llvm::Function* declare_intrinsic(llvm::Module& module, llvm::Intrinsic::ID id,
                                  llvm::ArrayRef<llvm::Type*> overloads);

}  // namespace tenon::codegen
