// Division and remainder of canonical sums by a constant c > 1. The part of a sum whose scales are
// multiples of c is divided exactly, and vanishes from the remainder. A single piece (x mod u) div
// l has its own rules, in `divide` and `reduce`.

#include "arith/canonicalizer.h"
#include "arith/facts_state.h"
#include "arith/rule_proofs.h"
#include "tenon/arith/simplify.h"

namespace tenon::arith {

using namespace tir;

namespace {

std::int64_t floor_modulo(std::int64_t a, std::int64_t divisor) {
  std::int64_t rest = a % divisor;
  return rest < 0 ? rest + divisor : rest;
}

Term nothing(DataType type) {
  Term zero{make_int(type, 0)};
  zero.scale = 0;
  return zero;
}

/// Returns the whole term as one opaque index with this rounding.
Term opaque(const Term& term, Rounding rounding) {
  Term whole(term.expr());
  whole.rounding = rounding;
  return whole;
}

/// Returns the same value as a term with this rounding.
Term with_rounding(Term term, Rounding rounding) {
  if (!term.allows(rounding)) return opaque(term, rounding);
  term.rounding = rounding;
  return term;
}

/// Returns a * b; nullopt if it does not fit the index type.
std::optional<std::int64_t> product(DataType type, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result) || !fits(result, type)) return std::nullopt;
  return result;
}

}  // namespace

// ---- facts from bounds --------------------------------------------------------------------------

bool Canonicalizer::is_non_negative(const Expr& e) const {
  return const_bound(e, facts_).is_at_least(0) ||
         can_prove(Claim{Claim::Relation::AtLeast, e, 0}, facts_);
}

bool Canonicalizer::is_below(const Expr& e, std::int64_t bound) const {
  return const_bound(e, facts_).is_below(bound);
}

bool Canonicalizer::is_remainder(const Expr& e, std::int64_t bound) const {
  ConstBound known = const_bound(e, facts_);
  return known.is_below(bound) && (known.is_at_least(0) || is_non_negative(e));
}

// ---- one piece ----------------------------------------------------------------------------------

/// Returns scale * ((x mod u) div l) div c.
///   c | scale:  the scale is divided, exactly.
///   scale | c, with k = c / scale > 0:  ((x mod u) div l) div k == (x mod u) div (l*k).
///     If l*k >= u, the result is 0. Otherwise, if u is a multiple of l*k, the result is a piece
///     again. If not, x mod u becomes the index.
/// A negative scale is moved into the divisor only if the piece is a whole index: s*x div (s*k) ==
/// x div k holds, because both round the same rational number. For l > 1 the first division has
/// already rounded down, and dividing by k < 0 afterwards gives another value.
Term Canonicalizer::divide(Term term, std::int64_t divisor, Rounding rounding) {
  term = with_rounding(std::move(term), rounding);
  if (term.scale % divisor == 0) {
    term.scale /= divisor;
    return term;
  }
  if (divisor % term.scale == 0) {
    std::int64_t rest = divisor / term.scale;
    if (rest < 0 && term.is_whole())
      return with_rounding(Term(quotient(rounding, term.index, rest)), rounding);
    std::optional<std::int64_t> lower;
    if (rest > 0) lower = product(term.dtype(), term.lower, rest);
    if (lower) {
      if (term.upper != kNoUpper && term.upper <= *lower) return nothing(term.dtype());
      if (term.upper != kNoUpper && term.upper % *lower != 0) {
        term.index = remainder(rounding, term.index, term.upper);
        term.upper = kNoUpper;
      }
      term.scale = 1;
      term.lower = *lower;
      return term;
    }
  }
  term = opaque(term, rounding);
  term.lower = divisor;
  return term;
}

/// Returns scale * ((x mod u) div l) mod c.
///   c | scale:  nothing remains.
///   scale | c, with k = c / scale > 0:  s*y mod (s*k) == s * (y mod k), and
///     (z div l) mod k == (z mod (l*k)) div l. The modulus l*k replaces a modulus u that is a
///     multiple of it, and changes nothing if u divides it.
/// For k < 0 only the first identity holds if l > 1, so a negative scale is handled only for a
/// whole index.
Term Canonicalizer::reduce(Term term, std::int64_t divisor, Rounding rounding) {
  term = with_rounding(std::move(term), rounding);
  if (term.scale % divisor == 0) return nothing(term.dtype());
  if (divisor % term.scale == 0) {
    std::int64_t rest = divisor / term.scale;
    if (rest < 0 && term.is_whole()) {
      term.index = remainder(rounding, term.index, rest);
      return term;
    }
    std::optional<std::int64_t> upper;
    if (rest > 0) upper = product(term.dtype(), term.lower, rest);
    if (upper && (term.upper == kNoUpper || term.upper == *upper)) {
      term.upper = *upper;
      return term;
    }
    if (upper && term.upper % *upper == 0) {
      // The smaller modulus may simplify the index further.
      Term smaller(simplify(remainder(rounding, term.index, *upper)));
      if (term.lower != 1) smaller = divide(std::move(smaller), term.lower, rounding);
      smaller.multiply(term.scale);
      return smaller;
    }
    if (upper && *upper % term.upper == 0) return term;
  }
  term = opaque(term, rounding);
  term.upper = divisor;
  return term;
}

// ---- sums ---------------------------------------------------------------------------------------

Canonical Canonicalizer::floor_divide(Canonical a, std::int64_t divisor) {
  const Sum* sum = std::get_if<Sum>(&a);
  if (!sum) {
    if (is_remainder(to_expr(a), divisor)) return make_int(to_expr(a).dtype(), 0);
    return divide(to_term(std::move(a)), divisor, Rounding::Floor);
  }
  // (c*p + q) div c == p + q div c
  auto [result, rest] = sum->separate(divisor);
  result.divide_exactly(divisor);
  if (rest.is_zero()) return result;
  Expr left = rest.expr();
  if (std::optional<std::int64_t> value = constant_int(left)) {
    result.add((*value - floor_modulo(*value, divisor)) / divisor);
  } else if (!is_remainder(left, divisor)) {
    result.add(divide(Term(left), divisor, Rounding::Floor), 1);
  }
  return result;
}

Canonical Canonicalizer::trunc_divide(Canonical a, std::int64_t divisor) {
  const Sum* sum = std::get_if<Sum>(&a);
  if (!sum) {
    if (is_remainder(to_expr(a), divisor)) return make_int(to_expr(a).dtype(), 0);
    return divide(to_term(std::move(a)), divisor, Rounding::Trunc);
  }
  auto [result, rest] = sum->separate(divisor);
  if (rest.is_zero()) {
    result.divide_exactly(divisor);
    return result;
  }
  // Truncating division can be applied to the two parts separately if neither is negative.
  Expr left = rest.expr();
  if (!is_non_negative(result.expr()) || !is_non_negative(left)) {
    return divide(to_term(std::move(a)), divisor, Rounding::Trunc);
  }
  result.divide_exactly(divisor);
  if (std::optional<std::int64_t> value = constant_int(left)) {
    result.add(*value / divisor);
  } else if (!is_below(left, divisor)) {
    result.add(divide(Term(left), divisor, Rounding::Trunc), 1);
  }
  return result;
}

Canonical Canonicalizer::floor_remainder(Canonical a, std::int64_t divisor) {
  const Sum* sum = std::get_if<Sum>(&a);
  if (!sum) {
    if (is_remainder(to_expr(a), divisor)) return a;
    return reduce(to_term(std::move(a)), divisor, Rounding::Floor);
  }
  Sum rest = sum->separate(divisor).rest;
  Expr left = rest.expr();
  if (std::optional<std::int64_t> value = constant_int(left)) {
    return make_int(left.dtype(), floor_modulo(*value, divisor));
  }
  if (is_remainder(left, divisor)) return left;
  Sum reduced = rest;
  reduced.set_constant(floor_modulo(rest.constant(), divisor));
  // Without its large constant, a sum such as k - 2147483640 may leave the type that contains the
  // original sum.
  const Facts::State& state = facts_.state();
  if (reduced.constant() == rest.constant() || !leaves_type(reduced.expr(), state) ||
      leaves_type(left, state))
    rest = std::move(reduced);
  return reduce(to_term(std::move(rest)), divisor, Rounding::Floor);
}

Canonical Canonicalizer::trunc_remainder(Canonical a, std::int64_t divisor) {
  Sum* sum = std::get_if<Sum>(&a);
  if (!sum) {
    if (is_remainder(to_expr(a), divisor)) return a;
    return reduce(to_term(std::move(a)), divisor, Rounding::Trunc);
  }
  auto [divisible, rest] = sum->separate(divisor);
  if (rest.is_zero()) return make_int(sum->dtype(), 0);
  Expr left = rest.expr();
  if (is_non_negative(divisible.expr()) && is_non_negative(left)) {
    if (std::optional<std::int64_t> value = constant_int(left))
      return make_int(left.dtype(), *value % divisor);
    if (is_below(left, divisor)) return left;
    *sum = std::move(rest);
  }
  // A multiple of c may be removed from the constant if nothing becomes negative.
  std::optional<std::int64_t> least = const_bound(sum->expr(), facts_).min;
  std::int64_t constant = sum->constant() % divisor;
  if (least && *least >= 0 && *least - sum->constant() + constant >= 0) sum->set_constant(constant);
  return reduce(to_term(std::move(a)), divisor, Rounding::Trunc);
}

}  // namespace tenon::arith
