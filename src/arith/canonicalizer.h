// The normal form of index arithmetic: sums of scaled pieces of indices.
//
//   ((x*8) + floordiv(floormod(y, 64), 16)) + 3      ==  Sum{ {x, 1, none, 8}, {y, 16, 64, 1}; 3 }
//
// Values are of one index type (int32 or int64) and assumed not to overflow; scales and constants
// wrap.
#pragma once

#include <limits>
#include <variant>

#include "arith/ends.h"
#include "arith/rewrite_step.h"
#include "tenon/tir/expr.h"

namespace tenon::arith {

enum class Rounding : std::uint8_t { Trunc, Floor };

inline constexpr std::int64_t kNoUpper = std::numeric_limits<std::int64_t>::max();

/// The value scale * ((index mod upper) div lower), where div and mod both round by `rounding`.
/// `upper` may be kNoUpper. Invariant: lower >= 1, and upper is kNoUpper or a positive multiple of
/// lower.
struct Term {
  Expr index;
  std::int64_t lower = 1;
  std::int64_t upper = kNoUpper;
  std::int64_t scale = 1;
  Rounding rounding = Rounding::Trunc;

  explicit Term(Expr index) : index(std::move(index)) {}

  DataType dtype() const { return index.dtype(); }
  bool is_whole() const { return lower == 1 && upper == kNoUpper; }
  /// Whether the term has the same value with the rounding `other`. A whole index is not rounded,
  /// so both roundings agree.
  bool allows(Rounding other) const { return rounding == other || is_whole(); }
  bool same_index(const Term& other) const { return structural_equal(index, other.index); }

  /// Multiplies the scale by `factor`. Returns false if the type cannot represent the exact
  /// product; the scale then wraps.
  bool multiply(std::int64_t factor);
  /// Returns the term times a sign of +1 or -1, as an expression.
  Expr expr(int sign = 1) const;
};

/// Return the remainder or quotient of `a` by a constant divisor, with this rounding.
Expr remainder(Rounding rounding, const Expr& a, std::int64_t divisor);
Expr quotient(Rounding rounding, const Expr& a, std::int64_t divisor);

class Sum {
 public:
  explicit Sum(DataType type, std::int64_t constant = 0) : type_(type), constant_(constant) {}
  explicit Sum(Term term) : type_(term.dtype()) { terms_.push_back(std::move(term)); }

  DataType dtype() const { return type_; }
  /// Returns the terms. Terms of one index are adjacent, by descending divisor. Indices are in
  /// order of first appearance.
  const std::vector<Term>& terms() const { return terms_; }
  std::int64_t constant() const { return constant_; }
  bool is_zero() const { return terms_.empty() && constant_ == 0; }

  void set_constant(std::int64_t value) { constant_ = value; }
  // Add the value multiplied by `factor`, or multiply the sum by it. They return whether the type
  // can represent the exact constant and scales; otherwise these wrap.
  bool add(std::int64_t value, std::int64_t factor = 1);
  bool add(Term term, std::int64_t factor);
  bool add(const Sum& other, std::int64_t factor);
  bool multiply(std::int64_t factor);
  /// Precondition: the divisor divides the constant and every scale.
  void divide_exactly(std::int64_t divisor);

  /// Splits the sum into the part whose scales and constant are multiples of the divisor, and the
  /// remainder.
  std::pair<Sum, Sum> separate(std::int64_t divisor) const;

  /// Returns the sum as an expression, with adjacent pieces merged and terms in order: the form of
  /// TVM 0.9 text.
  Expr expr() const;

  /// Casts the sum to the type by casting each term. Precondition: can_cast_terms.
  void cast_terms(DataType type);

 private:
  DataType type_;
  std::vector<Term> terms_;
  std::int64_t constant_ = 0;
};

/// Whether casting each index separately gives the same value as casting the result. This holds if
/// the cast widens, or if no step of the evaluation overflows.
bool can_cast_terms(const Term& term, DataType type, const Facts& facts);
bool can_cast_terms(const Sum& sum, DataType type, const Facts& facts);

// The canonical pass: converts a tree to nested sums of pieces of indices, and converts
// these back to expressions.

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
  Canonical visit_reduce(const Expr& e);

  /// Returns the quotient or remainder `e`, given its operands in canonical form.
  Canonical divide(tir::BinaryOp op, Canonical a, const Canonical& b, const Expr& e);
  Canonical add(Canonical a, Canonical b, int sign);
  Canonical multiply(Canonical a, Canonical b);

  bool part_leaves_type(const Sum& sum, const Sum& part) const;
  // Divide or reduce a sum or a term by a constant divisor > 1. Defined in the section about
  // division.
  Canonical floor_divide(const Sum& sum, std::int64_t divisor);
  Canonical trunc_divide(const Sum& sum, std::int64_t divisor);
  Canonical floor_remainder(const Sum& sum, std::int64_t divisor);
  Canonical trunc_remainder(Sum sum, std::int64_t divisor);
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
