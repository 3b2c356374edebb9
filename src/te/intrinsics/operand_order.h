// Comparison of expressions up to the order of commutative operands.
#pragma once

#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"

namespace tenon::te {

/// Whether the operands may be swapped.
bool is_commutative(tir::BinaryOp op);

bool same_but_for_order(const tir::Expr& a, const tir::Expr& b);

/// Returns the innermost subexpressions that explain the difference. Precondition: the expressions
/// differ.
tir::Difference where_they_part(const tir::Expr& a, const tir::Expr& b);

}  // namespace tenon::te
