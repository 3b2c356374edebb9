// Values of iterators in the form that the reference gives them after loops were split or fused:
// the digits of what the loops count, most significant first, wherever they are such digits.
#pragma once

#include "s_tir/iter_map.h"
#include "tenon/tir/block.h"

namespace tenon::s_tir {

/// Simplifies the bindings of the blocks below the statement, not of those inside of them.
/// `around`: the loops outside. Loops of one iteration are digits as well if `preserve_unit_iters`.
tir::Stmt simplify_bindings(const tir::Stmt& s, std::vector<LoopDomain> around,
                            bool preserve_unit_iters = true);

/// The statement with a condition added to the predicates of the blocks directly below it.
tir::Stmt add_predicate(const tir::Stmt& s, const tir::Expr& condition);

}  // namespace tenon::s_tir
