// The parts of rewrite_node, by family of operators. Each takes a node whose children are visited
// already.
#pragma once

#include "arith/rewrite_step.h"
#include "arith/rules/matcher.h"

namespace tenon::arith {

/// Visits an expression that a rule asks to be rewritten again, unless too many such visits are
/// under way.
Expr rewrite_again(const Expr& e, RewriteContext& context);
/// The first table with a rule that fits gives the result; nullopt if none does.
std::optional<Expr> apply_rules(const rules::RuleTable& table, const Expr& e,
                                RewriteContext& context);

/// What folding of constants makes of `a op b`, if it makes anything of it.
std::optional<Expr> folded(tir::BinaryOp op, const Expr& a, const Expr& b);

/// Sums, products, divisions, remainders, min and max.
Expr rewrite_arithmetic(const Expr& e, const tir::Binary& n, RewriteContext& context);
/// `==`, `<`; `<=` on floats.
Expr rewrite_comparison(const Expr& e, const tir::Binary& n, RewriteContext& context);
/// `&&`, `||`.
Expr rewrite_connective(const Expr& e, const tir::Binary& n, RewriteContext& context);
Expr rewrite_not(const Expr& e, RewriteContext& context);

/// Divisions of a ramp by a broadcast constant.
std::optional<Expr> rewrite_ramp_division(const tir::Binary& n, const Facts& facts);
/// Floor division of a sum whose parts do not carry into each other.
std::optional<Expr> eliminate_residue(const tir::Binary& n, const Facts& facts);

}  // namespace tenon::arith
