// The canonical pass: converts a tree to nested sums of pieces of indices (sum.h), and converts
// these back to expressions.
#pragma once

#include <variant>

#include "arith/rewrite_step.h"
#include "arith/sum.h"

namespace tenon::arith {

/// The canonical form of a subtree. A plain Expr is opaque to the arithmetic around it, unless it
/// is a constant.
using Canonical = std::variant<Expr, Term, Sum>;

/// Returns the value as an expression.
Expr to_expr(const Canonical& value);
/// Returns the value as one term; several terms become one opaque index.
Term to_term(Canonical value);
Sum to_sum(Canonical value);

class Canonicalizer {
 public:
  explicit Canonicalizer(const Facts& facts)
      : facts_(facts), rewriting_{facts, [this](const Expr& e) { return simplify(e); }} {}
  Canonicalizer(const Canonicalizer&) = delete;
  Canonicalizer& operator=(const Canonicalizer&) = delete;

  /// Returns the tree in canonical form; the same handle if the tree is in that form already.
  Expr simplify(const Expr& e);
  /// Returns the tree as a sum, before pieces are merged.
  Sum sum_of(const Expr& e) { return to_sum(visit(e)); }

 private:
  Canonical visit(const Expr& e);
  Canonical visit_arithmetic(const tir::Binary& node, const Expr& e);
  Canonical visit_cast(const tir::Cast& node, const Expr& e);
  Canonical visit_reduce(const tir::Reduce& node, const Expr& e);

  /// Returns the quotient or remainder `e`, given its operands in canonical form.
  Canonical divide(tir::BinaryOp op, Canonical a, const Canonical& b, const Expr& e);
  Canonical add(Canonical a, Canonical b, int sign);
  Canonical multiply(Canonical a, Canonical b);

  // Divide or reduce by a constant divisor > 1. Defined in canonical_division.cpp.
  Canonical floor_divide(Canonical a, std::int64_t divisor);
  Canonical trunc_divide(Canonical a, std::int64_t divisor);
  Canonical floor_remainder(Canonical a, std::int64_t divisor);
  Canonical trunc_remainder(Canonical a, std::int64_t divisor);
  Term divide(Term term, std::int64_t divisor, Rounding rounding);
  Term reduce(Term term, std::int64_t divisor, Rounding rounding);

  bool is_non_negative(const Expr& e) const;
  bool is_below(const Expr& e, std::int64_t bound) const;
  /// Whether 0 <= e < bound.
  bool is_remainder(const Expr& e, std::int64_t bound) const;

  const Facts& facts_;
  RewriteContext rewriting_;
};

}  // namespace tenon::arith
