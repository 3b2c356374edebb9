// Attribution of machine instructions to statements of the program.
#pragma once

#include "tenon/codegen/assembler_listing.h"
#include "tenon/codegen/source_listing.h"
#include "tenon/inspect/loop_view.h"

namespace tenon {

/// Attributes instructions to statements by LLVM's debug lines. An instruction without a debug line
/// is attributed to the innermost statement that contains all statements of the enclosing machine
/// loop or, outside of machine loops, all statements of the function.
std::vector<LoopView::Instruction> place_instructions(const codegen::AssemblerListing& code,
                                                      const std::vector<LoopView::Stmt>& stmts);

/// Attributes lines of source to the statements that the marks in the source name. A line without a
/// mark belongs to no statement.
std::vector<LoopView::Instruction> place_source(const std::vector<codegen::SourceLine>& code,
                                                const std::vector<LoopView::Stmt>& stmts);

}  // namespace tenon
