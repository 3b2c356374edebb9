// Simplification to the normal forms that the known texts show, and proof.
//
//   simplify((i * 8 + j) * 4, facts)                   // ((i*32) + (j*4))
//   can_prove(i * 8 + j < 128, facts)
//
// One `simplify` is: the rewriter (rules as rows, src/arith/rules/) at most two rounds, stopping
// when a round changes nothing, then one canonical pass (sums of scaled, divided, reduced indices).
// Idempotence is not promised.
#pragma once

#include "tenon/arith/facts.h"
#include "tenon/tir/function.h"

namespace tenon::arith {

Expr simplify(const Expr& e, const Facts& facts = Facts(), int rounds = 2);
Range simplify(const Range& r, const Facts& facts = Facts());
/// One of the two simplifiers alone: that of rules, and that of sums in normal form.
Expr rewrite_simplify(const Expr& e, const Facts& facts = Facts());
Expr canonical_simplify(const Expr& e, const Facts& facts = Facts());

/// Every expression of a statement, with the facts that its loops, conditions and lets give; dead
/// branches and useless stores go; pure integer lets are inlined; extent-1 loop variables are
/// replaced. (The Simplify of the pass list.)
tir::Stmt simplify_stmt(const tir::Stmt& s, Facts& facts);

/// Whether the Bool expression surely holds. False means "not proved", never "disproved".
bool can_prove(const Expr& condition, const Facts& facts = Facts());
bool can_prove_equal(const Expr& a, const Expr& b, const Facts& facts = Facts());
bool can_prove_at_least(const Expr& e, std::int64_t bound, const Facts& facts = Facts());
bool can_prove_below(const Expr& e, std::int64_t bound, const Facts& facts = Facts());

}  // namespace tenon::arith
