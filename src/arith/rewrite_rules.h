// The parts of rewrite_node, by family of operators. Each takes a node with simplified children.
#pragma once

#include "arith/rewrite_step.h"
#include "arith/rules/tables.h"

namespace tenon::arith {

/// Visits an expression that a rule requests to rewrite again, unless the nesting limit is reached.
Expr rewrite_again(const Expr& e, RewriteContext& context);
/// Returns the result of the first matching rule of the table; nullopt if none matches.
std::optional<Expr> apply_rules(const rules::RuleTable& table, const Expr& e,
                                RewriteContext& context);

/// Returns the constant-folded `a op b`; nullopt if nothing folds.
std::optional<Expr> folded(tir::BinaryOp op, const Expr& a, const Expr& b);

/// Rewrites sums, products, divisions, remainders, min and max.
Expr rewrite_arithmetic(const Expr& e, const tir::Binary& n, RewriteContext& context);
/// Rewrites `==` and `<`, and `<=` on floats.
Expr rewrite_comparison(const Expr& e, const tir::Binary& n, RewriteContext& context);
/// Rewrites `&&` and `||`.
Expr rewrite_connective(const Expr& e, const tir::Binary& n, RewriteContext& context);
Expr rewrite_not(const Expr& e, RewriteContext& context);

/// Rewrites divisions of a ramp by a broadcast constant.
std::optional<Expr> rewrite_ramp_division(const tir::Binary& n, const Facts& facts);
/// Rewrites a floor division of a sum whose parts do not carry into each other.
std::optional<Expr> eliminate_residue(const tir::Binary& n, const Facts& facts);

}  // namespace tenon::arith
