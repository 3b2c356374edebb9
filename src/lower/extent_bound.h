// An upper bound of an allocation's extent that does not use the variables of the loops between.
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

/// nullopt if none could be found. Exact where the ranges are constant and not too large.
std::optional<tir::Expr> extent_bound(const tir::Expr& extent, const std::vector<RangedVar>& loops);

}  // namespace tenon::lowering
