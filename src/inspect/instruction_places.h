// Attribution of instructions to statements.
#pragma once

#include "tenon/codegen/assembler_listing.h"
#include "tenon/inspect/loop_view.h"

namespace tenon {

/// Attributes instructions by LLVM's debug lines. An instruction without a debug line is attributed
/// to the innermost statement that contains all lines of the enclosing machine loop. Outside of
/// machine loops, it is attributed to the innermost statement with all lines of the function.
std::vector<LoopView::Instruction> place_instructions(const codegen::AssemblerListing& code,
                                                      const std::vector<LoopView::Stmt>& stmts);

}  // namespace tenon
