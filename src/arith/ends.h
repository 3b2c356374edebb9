// Arithmetic on the ends of intervals, where an absent end is infinite.
#pragma once

#include "tenon/arith/interval.h"
#include "tenon/tir/expr.h"

namespace tenon::arith {

/// fold(op, a, b) after promotion of the types, where they differ.
Expr combine(tir::BinaryOp op, const Expr& a, const Expr& b);
/// Absent if one of them is, or where constants have a result beyond their type: indices do not
/// wrap, so such an end tells nothing.
std::optional<Expr> combine_if_both(tir::BinaryOp op, const std::optional<Expr>& a,
                                    const std::optional<Expr>& b);
/// The interval with these ends; never empty.
Interval between(std::optional<Expr> min, std::optional<Expr> max);
/// The box hull of two, its ends not simplified.
Interval raw_hull(const Interval& a, const Interval& b);

}  // namespace tenon::arith
