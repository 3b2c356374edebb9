// Which statement each instruction is part of.
#pragma once

#include "tenon/codegen/assembler_listing.h"
#include "tenon/inspect/loop_view.h"

namespace tenon {

/// By the lines that LLVM tells. Where it tells none, by the loop of machine code around: what is
/// there serves the smallest statement that has all of the loop's lines. Outside of machine loops
/// that is the smallest statement with all lines of the function.
std::vector<LoopView::Instruction> place_instructions(const codegen::AssemblerListing& code,
                                                      const std::vector<LoopView::Stmt>& stmts);

}  // namespace tenon
