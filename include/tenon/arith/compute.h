// Exact integer arithmetic on constants.
#pragma once

#include <cstdint>
#include <optional>

#include "tenon/tir/expr.h"

namespace tenon::arith {

/// Returns the value of the operation; 0 or 1 for a comparison. Nullopt for a division by zero, for
/// a result outside int64, and for Div, which is for floats only.
std::optional<std::int64_t> compute(tir::BinaryOp op, std::int64_t a, std::int64_t b);

}  // namespace tenon::arith
