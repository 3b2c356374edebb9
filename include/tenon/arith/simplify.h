// Simplification to the normal forms of TVM 0.9 text, and proofs.
//
//   simplify((i * 8 + j) * 4, facts)                   // ((i*32) + (j*4))
//   can_prove(i * 8 + j < 128, facts)
//
// One call of `simplify` runs the rewriter (rules as table rows, src/arith/rules/) for up to two
// rounds, stopping when a round changes nothing, and then one canonical pass (sums of scaled,
// divided and reduced indices). It is not necessarily idempotent.
#pragma once

#include "tenon/arith/facts.h"
#include "tenon/tir/function.h"

namespace tenon::arith {

Expr simplify(const Expr& e, const Facts& facts = Facts(), int rounds = 2);
Range simplify(const Range& r, const Facts& facts = Facts());
/// Run only one of the two parts: the rewriter, or the canonical pass.
Expr rewrite_simplify(const Expr& e, const Facts& facts = Facts());
Expr canonical_simplify(const Expr& e, const Facts& facts = Facts());

/// Simplifies every expression of a statement with the facts from its loops, conditions and lets.
/// Removes dead branches and useless stores, inlines pure integer lets, and substitutes the
/// variables of loops of extent 1.
tir::Stmt simplify_stmt(const tir::Stmt& s, Facts& facts);

/// Whether the condition provably holds. False means "not proved", not "disproved".
bool can_prove(const Expr& condition, const Facts& facts = Facts());
bool can_prove_equal(const Expr& a, const Expr& b, const Facts& facts = Facts());
bool can_prove_at_least(const Expr& e, std::int64_t bound, const Facts& facts = Facts());
bool can_prove_below(const Expr& e, std::int64_t bound, const Facts& facts = Facts());

}  // namespace tenon::arith
