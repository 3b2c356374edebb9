// Sizes that are computed in front of the loops that they were inside of: also where these have no
// iteration, and there what is divided by may be zero.
#pragma once

#include "tenon/tir/expr.h"

namespace tenon::lowering {

/// The expression with no division by zero, and the same value where there was none.
tir::Expr with_safe_divisors(const tir::Expr& e);

}  // namespace tenon::lowering
