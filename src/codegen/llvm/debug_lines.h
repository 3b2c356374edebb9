// Where instructions come from, as LLVM's debug locations: each has the line of the statement that
// it computes part of. They go through optimisation with the instructions, change none of them, and
// come out as `.loc` in assembler. What LLVM moves out of its block loses its line.
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Module.h>

#include <optional>

#include "tenon/codegen/statement_lines.h"

namespace tenon::codegen {

class DebugLines {
 public:
  DebugLines(llvm::Module& module, const StatementLines& lines);

  /// Makes the function known to debuggers; then its instructions have this location until they are
  /// given another one. That of line 0, which is no line.
  llvm::DebugLoc begin(llvm::Function& function);
  /// Nothing for statements without a line.
  std::optional<llvm::DebugLoc> of(const tir::StmtNode& stmt, const llvm::Function& function) const;
  /// The line of a place in another function.
  llvm::DebugLoc same_line(const llvm::DebugLoc& place, llvm::Function& function) const;
  /// When all functions have been emitted.
  void finish() { builder_.finalize(); }

 private:
  llvm::DIBuilder builder_;
  llvm::DIFile* file_;
  const StatementLines& lines_;
};

}  // namespace tenon::codegen
