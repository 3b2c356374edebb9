// Source lines of instructions, as LLVM debug locations: each instruction has the line of the
// statement that it implements. The lines survive optimization without affecting it, and become
// `.loc` in assembler. Instructions that LLVM moves to another block lose their line.
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "tenon/codegen/compile_options.h"

namespace tenon::codegen {

class DebugLines {
 public:
  DebugLines(llvm::Module& module, const StatementLines& lines);

  /// Adds debug information for the function. Returns the initial location of its instructions,
  /// which has line 0.
  llvm::DebugLoc begin(llvm::Function& function);
  /// Returns nullopt for statements without a line.
  std::optional<llvm::DebugLoc> of(const tir::StmtNode& stmt, const llvm::Function& function) const;
  /// Returns a location in `function` with the line of the location `place`.
  llvm::DebugLoc same_line(const llvm::DebugLoc& place, llvm::Function& function) const;
  /// Completes the debug information. Must be called after all functions have been emitted.
  void finish() { builder_.finalize(); }

 private:
  llvm::DIBuilder builder_;
  llvm::DIFile* file_;
  const StatementLines& lines_;
};

}  // namespace tenon::codegen
