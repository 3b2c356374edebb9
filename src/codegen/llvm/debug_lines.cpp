#include "codegen/llvm/debug_lines.h"

#include <llvm/BinaryFormat/Dwarf.h>

#include <mutex>

#include "codegen/llvm/target_machine.h"

namespace tenon::codegen {

namespace {

/// Makes LLVM emit line 0 for instructions without a line. They would otherwise inherit the line of
/// the previous instruction.
void write_unknown_lines() {
  static std::once_flag done;
  std::call_once(done, [] { set_llvm_option("use-unknown-locations", "Enable"); });
}

}  // namespace

DebugLines::DebugLines(llvm::Module& module, const StatementLines& lines)
    : builder_(module), file_(builder_.createFile("loops", "")), lines_(lines) {
  write_unknown_lines();
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  builder_.createCompileUnit(static_cast<llvm::dwarf::SourceLanguage>(llvm::dwarf::DW_LANG_C),
                             file_, "tenon", /*isOptimized=*/true, /*Flags=*/"", /*RV=*/0,
                             /*SplitName=*/"", llvm::DICompileUnit::DebugDirectivesOnly);
}

llvm::DebugLoc DebugLines::begin(llvm::Function& function) {
  const auto flags = llvm::DISubprogram::toSPFlags(/*IsLocalToUnit=*/function.hasLocalLinkage(),
                                                   /*IsDefinition=*/true, /*IsOptimized=*/true);
  llvm::DISubprogram* scope =
      builder_.createFunction(file_, function.getName(), function.getName(), file_, 0,
                              builder_.createSubroutineType(builder_.getOrCreateTypeArray({})), 0,
                              llvm::DINode::FlagZero, flags);
  function.setSubprogram(scope);
  return llvm::DILocation::get(function.getContext(), 0, 0, scope);
}

llvm::DebugLoc DebugLines::same_line(const llvm::DebugLoc& place, llvm::Function& function) const {
  return llvm::DILocation::get(function.getContext(), place.getLine(), 0, function.getSubprogram());
}

std::optional<llvm::DebugLoc> DebugLines::of(const tir::StmtNode& stmt,
                                             const llvm::Function& function) const {
  const auto line = lines_.find(&stmt);
  if (line == lines_.end() || !function.getSubprogram()) return std::nullopt;
  return llvm::DebugLoc(llvm::DILocation::get(
      function.getContext(), static_cast<unsigned>(line->second), 0, function.getSubprogram()));
}

}  // namespace tenon::codegen
