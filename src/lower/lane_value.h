// One lane of a vector expression, as a scalar.
#pragma once

#include <optional>

#include "tenon/tir/expr.h"

namespace tenon::lowering {

/// As a function of the lane's number; nullopt for what is not computed by lanes.
std::optional<tir::Expr> lane_value(const tir::Expr& e, const tir::Var& lane);

}  // namespace tenon::lowering
