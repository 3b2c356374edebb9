// Guarded divisors for hoisted sizes. A size that is hoisted above a loop is also evaluated if the
// loop has no iterations, where a divisor may be zero.
#pragma once

#include "tenon/tir/expr.h"

namespace tenon::lowering {

/// Returns an expression without division by zero that has the same value if no divisor is zero.
tir::Expr with_safe_divisors(const tir::Expr& e);

}  // namespace tenon::lowering
