// Expressions modulo the order of the operands of commutative operators.
#pragma once

#include "tenon/tir/compare.h"
#include "tenon/tir/expr.h"

namespace tenon::te {

/// Whether the operands may trade places.
bool is_commutative(tir::BinaryOp op);

bool same_but_for_order(const tir::Expr& a, const tir::Expr& b);

/// The deepest place that still tells where the two part; precondition: they do.
tir::Difference where_they_part(const tir::Expr& a, const tir::Expr& b);

}  // namespace tenon::te
