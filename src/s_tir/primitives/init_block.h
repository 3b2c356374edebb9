// Separates a reduction into a block for the init and a block for the updates.
#pragma once

#include <tuple>

#include "s_tir/context.h"

namespace tenon::s_tir {

/// Separates the init of `block`, which is node `n` of the program or a block derived from it.
/// Returns the init block, nested in copies of the loops that determine its elements, its id, and
/// the reduction without its init. The reduction also declares reads of the elements that it
/// writes.
///
/// `values` and `conditions` are its iterator values and its predicate. `loops` are the enclosing
/// loops that the init is moved out of. If `is_before`, the init block will be before a loop around
/// the reduction, otherwise in the init of an enclosing block. This determines the names, which are
/// those of TVM 0.9. Throws if the init uses buffers or variables that exist only inside of the
/// block.
std::tuple<tir::Stmt, BlockId, tir::Block> separate_init(const Caller& caller,
                                                         const Program& program, int n,
                                                         bool is_before, const tir::Block& block,
                                                         const std::vector<tir::Expr>& values,
                                                         const std::vector<tir::Expr>& conditions,
                                                         const std::vector<int>& loops);

}  // namespace tenon::s_tir
