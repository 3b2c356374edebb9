// LLVM's description of the target processor.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>
#include <string_view>

#include "tenon/tir/target.h"

namespace tenon::codegen {

/// Sets an option of LLVM's command line. Does nothing if this version of LLVM does not have it.
void set_llvm_option(const char* name, const char* value);

/// Returns the triple; an empty one stands for this host's.
llvm::Triple triple_of(const std::string& triple);

/// Throws TargetError for a triple that LLVM cannot compile for.
const llvm::Target& find_target(const llvm::Triple& triple);

/// An x86 feature that is never enabled. With this feature, LLVM does not terminate on some vectors
/// of bytes (llvm_faults.md).
inline constexpr std::string_view kUnusedFeature = "avx512vbmi";

/// Returns the enabled and disabled features in LLVM's form, such as "+avx512f,-amx-tile".
std::string joined_features(const tir::TargetFacts& facts);

/// Throws TargetError for an unknown triple.
std::unique_ptr<llvm::MCSubtargetInfo> make_subtarget(const tir::TargetFacts& facts);

/// Throws TargetError for an unknown triple, processor or feature.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const tir::TargetFacts& facts,
                                                         int opt_level);

void set_target(llvm::Module& module, const llvm::TargetMachine& machine);

}  // namespace tenon::codegen
