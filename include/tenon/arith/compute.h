// Integer arithmetic on constants, exact or not at all.
#pragma once

#include <cstdint>
#include <optional>

#include "tenon/tir/expr.h"

namespace tenon::arith {

/// What the operator makes of two integers; 0 or 1 of a comparison. Nothing for a division by zero,
/// where the result leaves int64, and for Div, which is not of integers.
std::optional<std::int64_t> compute(tir::BinaryOp op, std::int64_t a, std::int64_t b);

}  // namespace tenon::arith
