// Upper bounds of allocation extents that do not use the variables of the intermediate loops.
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

}  // namespace tenon::lowering
