// Arithmetic on interval ends. An absent end is infinite.
#pragma once

#include "tenon/arith/interval.h"
#include "tenon/tir/expr.h"

namespace tenon::arith {

/// Returns fold(op, a, b) after type promotion if necessary.
Expr combine(tir::BinaryOp op, const Expr& a, const Expr& b);
/// Returns nullopt if an operand is absent, or if the result of constants overflows: indices do not
/// wrap, so such an end carries no information.
std::optional<Expr> combine_if_both(tir::BinaryOp op, const std::optional<Expr>& a,
                                    const std::optional<Expr>& b);
/// Like combine_if_both, but returns `a`, or `b` if `a` is absent, instead of nullopt.
std::optional<Expr> combine_or_other(tir::BinaryOp op, const std::optional<Expr>& a,
                                     const std::optional<Expr>& b);
/// Returns the hull of two intervals without simplifying its ends.
Interval raw_hull(const Interval& a, const Interval& b);

}  // namespace tenon::arith
