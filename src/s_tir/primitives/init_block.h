// Separates a reduction into a block for the init and a block for the updates.
#pragma once

#include "s_tir/context.h"

namespace tenon::s_tir {

struct SeparateInit {
  /// The init block, nested in copies of the loops that determine its elements.
  tir::Stmt nest;
  BlockId id;
  /// The reduction without its init. It also declares reads of the elements that it writes.
  tir::Block update;
};

/// Separates the init of `block`, which is node `n` of the program or a block derived from it.
/// `values` and `conditions` are its iterator values and its predicate. `loops` are the enclosing
/// loops that the init is moved out of. If `is_before`, the init block will be before a loop around
/// the reduction, otherwise in the init of an enclosing block. This determines the names, which are
/// those of TVM 0.9. Throws if the init uses buffers or variables that exist only inside of the
/// block.
SeparateInit separate_init(const Caller& caller, const Program& program, int n, bool is_before,
                           const tir::Block& block, const std::vector<tir::Expr>& values,
                           const std::vector<tir::Expr>& conditions, const std::vector<int>& loops);

}  // namespace tenon::s_tir
