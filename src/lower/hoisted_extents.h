// Sizes of allocations that are hoisted above loops: upper bounds that do not use the variables of
// the loops in between, and divisors that are safe if such a loop has no iterations.
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

/// Returns nullopt if no bound was found. The bound is exact for small constant ranges.
std::optional<tir::Expr> extent_bound(const tir::Expr& extent, const std::vector<RangedVar>& loops);

/// Returns an expression without division by zero that has the same value if no divisor is zero.
tir::Expr with_safe_divisors(const tir::Expr& e);

}  // namespace tenon::lowering
