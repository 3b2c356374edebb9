// Sizes of allocations that are hoisted above loops. The size must not use variables of these
// loops, so it is replaced by an upper bound. Its divisors must be safe even if such a loop has no
// iterations.
//
//   extent_bound(min(i*8 + 10, 64) - i*8, {{i, [0, 8)}})  ==  10
#pragma once

#include <optional>
#include <vector>

#include "tenon/tir/expr.h"

namespace tenon::lowering {

struct RangedVar {
  tir::Var var;
  tir::Range range;
};

/// Returns an upper bound of the extent that does not use the variables of `loops`; nullopt if no
/// bound was found. The bound is exact for small constant ranges.
std::optional<tir::Expr> extent_bound(const tir::Expr& extent, const std::vector<RangedVar>& loops);

/// Returns an expression that does not divide by zero. It equals `e` if no divisor in `e` is zero.
tir::Expr with_safe_divisors(const tir::Expr& e);

}  // namespace tenon::lowering
