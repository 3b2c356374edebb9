// Binding values in the form that TVM prints after loops are split or fused: the digits of the
// loops' numbers, most significant first, if the values consist of such digits.
#pragma once

#include "s_tir/iter_map.h"
#include "tenon/tir/block.h"

namespace tenon::s_tir {

/// Simplifies the bindings of the blocks directly below the statement. `around`: the enclosing
/// loops. If `preserve_unit_iters`, loops of one iteration are digits too.
tir::Stmt simplify_bindings(const tir::Stmt& s, std::vector<LoopDomain> around,
                            bool preserve_unit_iters = true);

/// Returns the statement with a condition added to the predicates of the blocks directly below it.
tir::Stmt add_predicate(const tir::Stmt& s, const tir::Expr& condition);

}  // namespace tenon::s_tir
