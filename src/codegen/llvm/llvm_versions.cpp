#include "codegen/llvm/llvm_versions.h"

#include <llvm/IR/Function.h>

namespace tenon::codegen {

#if LLVM_VERSION_MAJOR >= 22
const llvm::Target* look_up_target(const llvm::Triple& triple, std::string& error) {
  return llvm::TargetRegistry::lookupTarget(triple, error);
}
llvm::MCSubtargetInfo* create_subtarget(const llvm::Target& target, const llvm::Triple& triple,
                                        const std::string& cpu, const std::string& features) {
  return target.createMCSubtargetInfo(triple, cpu, features);
}
#else
const llvm::Target* look_up_target(const llvm::Triple& triple, std::string& error) {
  return llvm::TargetRegistry::lookupTarget(triple.str(), error);
}
llvm::MCSubtargetInfo* create_subtarget(const llvm::Target& target, const llvm::Triple& triple,
                                        const std::string& cpu, const std::string& features) {
  return target.createMCSubtargetInfo(triple.str(), cpu, features);
}
#endif

#if LLVM_VERSION_MAJOR >= 21
llvm::TargetMachine* create_machine(const llvm::Target& target, const llvm::Triple& triple,
                                    const std::string& cpu, const std::string& features,
                                    const llvm::TargetOptions& options,
                                    llvm::CodeGenOptLevel level) {
  return target.createTargetMachine(triple, cpu, features, options, llvm::Reloc::PIC_, std::nullopt,
                                    level);
}
void set_triple(llvm::Module& module, const llvm::Triple& triple) {
  module.setTargetTriple(triple);
}
#else
llvm::TargetMachine* create_machine(const llvm::Target& target, const llvm::Triple& triple,
                                    const std::string& cpu, const std::string& features,
                                    const llvm::TargetOptions& options,
                                    llvm::CodeGenOptLevel level) {
  return target.createTargetMachine(triple.str(), cpu, features, options, llvm::Reloc::PIC_,
                                    std::nullopt, level);
}
void set_triple(llvm::Module& module, const llvm::Triple& triple) {
  module.setTargetTriple(triple.str());
}
#endif

#if LLVM_VERSION_MAJOR >= 20
llvm::Intrinsic::ID find_intrinsic(llvm::StringRef name) {
  return llvm::Intrinsic::lookupIntrinsicID(name);
}
llvm::Function* declare_intrinsic(llvm::Module& module, llvm::Intrinsic::ID id,
                                  llvm::ArrayRef<llvm::Type*> overloads) {
  return llvm::Intrinsic::getOrInsertDeclaration(&module, id, overloads);
}
#else
llvm::Intrinsic::ID find_intrinsic(llvm::StringRef name) {
  return llvm::Function::lookupIntrinsicID(name);
}
llvm::Function* declare_intrinsic(llvm::Module& module, llvm::Intrinsic::ID id,
                                  llvm::ArrayRef<llvm::Type*> overloads) {
  return llvm::Intrinsic::getDeclaration(&module, id, overloads);
}
#endif

}  // namespace tenon::codegen
