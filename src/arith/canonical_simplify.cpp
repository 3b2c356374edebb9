#include "arith/canonicalizer.h"

#include <algorithm>

#include "arith/facts_state.h"
#include "arith/rule_proofs.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/deep_stack.h"
#include "tenon/support/match.h"
#include "tenon/tir/compare.h"

namespace tenon::arith {

// ---- sums ---------------------------------------------------------------------------------------

using namespace tir;

namespace {

__extension__ typedef __int128 Exact;

/// Adds a * b to the value, modulo the type. Returns whether the type can represent the exact
/// value.
bool add_product(DataType type, std::int64_t& value, std::int64_t a, std::int64_t b) {
  const Exact exact = value + static_cast<Exact>(a) * b;
  value = wrap(static_cast<std::int64_t>(exact), type);
  return value == exact;
}

bool multiply_value(DataType type, std::int64_t& value, std::int64_t factor) {
  const std::int64_t old = std::exchange(value, 0);
  return add_product(type, value, old, factor);
}

bool is_least(DataType type, std::int64_t value) { return value == integer_min(type); }

}  // namespace

Expr remainder(Rounding rounding, const Expr& a, std::int64_t divisor) {
  BinaryOp op = rounding == Rounding::Floor ? BinaryOp::FloorMod : BinaryOp::TruncMod;
  return fold(op, a, make_int(a.dtype(), divisor));
}

Expr quotient(Rounding rounding, const Expr& a, std::int64_t divisor) {
  BinaryOp op = rounding == Rounding::Floor ? BinaryOp::FloorDiv : BinaryOp::TruncDiv;
  return fold(op, a, make_int(a.dtype(), divisor));
}

// ---- Term ---------------------------------------------------------------------------------------

bool Term::multiply(std::int64_t factor) { return multiply_value(dtype(), scale, factor); }

Expr Term::expr(int sign) const {
  if (scale == 0) return make_int(dtype(), 0);
  Expr result = index;
  if (upper != kNoUpper) result = remainder(rounding, result, upper);
  if (lower != 1) result = quotient(rounding, result, lower);
  std::int64_t factor = scale;
  multiply_value(dtype(), factor, sign);
  return factor == 1 ? result : fold(BinaryOp::Mul, result, make_int(dtype(), factor));
}

// ---- Sum: arithmetic ----------------------------------------------------------------------------

bool Sum::add(std::int64_t value, std::int64_t factor) {
  return add_product(type_, constant_, value, factor);
}

bool Sum::add(Term term, std::int64_t factor) {
  if (term.scale == 0) return true;
  const bool is_exact = term.multiply(factor);
  auto place = std::find_if(terms_.begin(), terms_.end(),
                            [&](const Term& own) { return own.same_index(term); });
  for (; place != terms_.end(); ++place) {
    if (!place->same_index(term) || term.lower > place->lower) break;
    if (term.lower == place->lower && term.upper == place->upper && term.allows(place->rounding))
      return add_product(type_, place->scale, term.scale, 1) && is_exact;
  }
  terms_.insert(place, std::move(term));
  return is_exact;
}

bool Sum::add(const Sum& other, std::int64_t factor) {
  bool is_exact = add(other.constant_, factor);
  for (const Term& term : other.terms_) is_exact = add(term, factor) && is_exact;
  return is_exact;
}

bool Sum::multiply(std::int64_t factor) {
  bool is_exact = multiply_value(type_, constant_, factor);
  for (Term& term : terms_) is_exact = term.multiply(factor) && is_exact;
  return is_exact;
}

void Sum::divide_exactly(std::int64_t divisor) {
  constant_ /= divisor;
  for (Term& term : terms_) term.scale /= divisor;
}

std::pair<Sum, Sum> Sum::separate(std::int64_t divisor) const {
  Sum divisible(type_), rest(type_);
  (constant_ % divisor == 0 ? divisible : rest).constant_ = constant_;
  for (const Term& term : terms_)
    (term.scale % divisor == 0 ? divisible : rest).terms_.push_back(term);
  return {std::move(divisible), std::move(rest)};
}

// ---- Sum: conversion to an expression -----------------------------------------------------------

namespace {

/// Whether two pieces of one index are adjacent, so that they merge into one:
///   s * (x div (c*s)) + ((x mod (c*s)) div c)  ==  x div c      for s, c >= 1, times any factor,
/// because (x mod (c*s)) div c == (x div c) mod s, and (y div s) * s + y mod s == y for y = x div
/// c. Both identities also hold with x mod u in place of x if c*s divides u, and for both roundings
/// (for truncation, consider each sign separately).
bool meet(const Term& high, const Term& low) {
  return high.lower == low.upper && low.scale != 0 && high.scale % low.scale == 0 &&
         high.lower == (high.scale / low.scale) * low.lower && high.allows(low.rounding);
}

void merge_pieces(std::vector<Term>& terms) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].scale == 0) continue;
    for (std::size_t j = i + 1; j < terms.size(); ++j) {
      Term& high = terms[i];
      Term& low = terms[j];
      if (!high.same_index(low) || high.upper < low.lower) break;
      if (high.upper == low.upper && high.lower == low.lower && high.allows(low.rounding)) {
        add_product(low.dtype(), low.scale, high.scale, 1);
        high.scale = 0;
        break;
      }
      if (meet(high, low)) {
        low.upper = high.upper;
        high.scale = 0;
        break;
      }
    }
  }
}

/// Orders terms by scale, divisor and modulus, all descending; floor precedes truncation. Terms
/// that agree in all of these keep their order.
bool comes_before(const Term& a, const Term& b) {
  if (a.scale != b.scale) return a.scale > b.scale;
  if (a.lower != b.lower) return a.lower > b.lower;
  if (a.upper != b.upper) return a.upper > b.upper;
  return a.rounding > b.rounding;
}

/// Returns the partial results of the left-associated chain of additions and subtractions that
/// computes a sum whose terms are sorted. The last one is the sum.
std::vector<Expr> chain_of(DataType type, const std::vector<Term>& terms, std::int64_t constant) {
  std::vector<Expr> chain;
  const auto add = [&](const Expr& e) {
    chain.push_back(chain.empty() ? e : fold(BinaryOp::Add, chain.back(), e));
  };
  const auto subtract = [&](const Expr& e) {
    chain.push_back(fold(BinaryOp::Sub, chain.empty() ? make_int(type, 0) : chain.back(), e));
  };
  // Terms with positive scales are added first. A scale that is the minimum of the type counts as
  // positive, because it cannot be negated for a subtraction.
  const auto is_added = [&](std::int64_t scale) { return scale > 0 || is_least(type, scale); };
  for (const Term& term : terms)
    if (is_added(term.scale)) add(term.expr());
  if (is_added(constant)) add(make_int(type, constant));
  for (const Term& term : terms)
    if (term.scale < 0 && !is_added(term.scale)) subtract(term.expr(-1));
  if (constant < 0 && !is_added(constant)) subtract(make_int(type, -constant));
  if (chain.empty()) chain.push_back(make_int(type, 0));
  return chain;
}

}  // namespace

Expr Sum::expr() const {
  if (terms_.empty()) return make_int(type_, constant_);
  std::vector<Term> terms = terms_;
  merge_pieces(terms);
  std::ranges::stable_sort(terms, comes_before);
  return chain_of(type_, terms, constant_).back();
}

// ---- casts --------------------------------------------------------------------------------------

namespace {

bool stays_within(const Expr& e, DataType type, const Facts& facts) {
  ConstBound bound = const_bound(e, facts);
  std::optional<std::int64_t> greatest = integer_max(type);
  return greatest && bound.is_at_least(integer_min(type)) && bound.is_at_most(*greatest);
}

/// Whether casting the operands to a wider type gives the same value as casting the result. This
/// fails for a rearranged sum that fits its type although a part of it overflows.
bool can_widen(const Expr& e, const Facts& facts) {
  return !may_overflow(e, facts.state()) &&
         !(any_part_leaves_type(e, facts.state()) && stays_within(e, e.dtype(), facts));
}

}  // namespace

bool can_cast_terms(const Term& term, DataType type, const Facts& facts) {
  if (term.scale == 0) return true;
  if (type.bits >= term.dtype().bits) return term.scale == 1 || can_widen(term.expr(), facts);
  if (!fits(term.scale, type) || !fits(term.lower, type)) return false;
  if (!stays_within(term.index, type, facts)) return false;
  if (term.upper != kNoUpper && !fits(term.upper, type)) return false;
  // A remainder or quotient by a positive number fits if the dividend does.
  return term.scale == 1 || stays_within(term.expr(), type, facts);
}

bool can_cast_terms(const Sum& sum, DataType type, const Facts& facts) {
  if (type.bits >= sum.dtype().bits) return can_widen(sum.expr(), facts);
  if (!fits(sum.constant(), type)) return false;
  return std::ranges::all_of(
             chain_of(sum.dtype(), sum.terms(), sum.constant()),
             [&](const Expr& partial) { return stays_within(partial, type, facts); }) &&
         std::ranges::all_of(sum.terms(),
                             [&](const Term& term) { return can_cast_terms(term, type, facts); });
}

namespace {

/// Casts an index between int32 and int64. Removes an inner widening cast from the same type
/// instead of adding a cast.
Expr cast_index(DataType type, const Expr& index) {
  const Cast* inner = index.as<Cast>();
  const bool widens = inner && inner->value.dtype() == type && index.dtype().bits >= type.bits;
  return widens ? inner->value : cast(type, index);
}

}  // namespace

void Sum::cast_terms(DataType type) {
  type_ = type;
  for (Term& term : std::exchange(terms_, {})) {
    const Expr index = term.index;
    term.index = cast_index(type, index);
    if (add(term, 1)) continue;
    // Merging the term with another term of the same index would overflow the scale. It remains a
    // separate term.
    add(term, -1);
    term.index = cast(type, index);
    add(std::move(term), 1);
  }
}

// ---- division -----------------------------------------------------------------------------------

// Division and remainder of canonical sums by a constant c > 1. The part of a sum whose scales are
// multiples of c is divided exactly, and vanishes from the remainder. A single piece (x mod u) div
// l has its own rules, in `divide` and `reduce`.

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
  return const_bound(e, facts_).is_at_least(0) || can_prove(BinaryOp::Ge, e, 0, facts_);
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

/// Whether the part of the sum leaves the type of the sum, although the sum does not. For example,
/// k may be too large for the type of k - 2147483640.
bool Canonicalizer::part_leaves_type(const Sum& sum, const Sum& part) const {
  const Facts::State& state = facts_.state();
  return leaves_type(part.expr(), state) && !leaves_type(sum.expr(), state);
}

Canonical Canonicalizer::floor_divide(const Sum& sum, std::int64_t divisor) {
  // (c*p + q) div c == p + q div c
  auto [result, rest] = sum.separate(divisor);
  result.divide_exactly(divisor);
  if (rest.is_zero()) return result;
  Expr left = rest.expr();
  if (std::optional<std::int64_t> value = constant_int(left)) {
    result.add((*value - floor_modulo(*value, divisor)) / divisor);
  } else if (part_leaves_type(sum, rest)) {
    return divide(to_term(sum), divisor, Rounding::Floor);
  } else if (!is_remainder(left, divisor)) {
    result.add(divide(Term(left), divisor, Rounding::Floor), 1);
  }
  return result;
}

Canonical Canonicalizer::trunc_divide(const Sum& sum, std::int64_t divisor) {
  auto [result, rest] = sum.separate(divisor);
  if (rest.is_zero()) {
    result.divide_exactly(divisor);
    return result;
  }
  // Truncating division can be applied to the two parts separately if neither is negative.
  Expr left = rest.expr();
  if (!is_non_negative(result.expr()) || !is_non_negative(left)) {
    return divide(to_term(sum), divisor, Rounding::Trunc);
  }
  result.divide_exactly(divisor);
  if (std::optional<std::int64_t> value = constant_int(left)) {
    result.add(*value / divisor);
  } else if (!is_below(left, divisor)) {
    result.add(divide(Term(left), divisor, Rounding::Trunc), 1);
  }
  return result;
}

Canonical Canonicalizer::floor_remainder(const Sum& sum, std::int64_t divisor) {
  Sum rest = sum.separate(divisor).second;
  Expr left = rest.expr();
  if (std::optional<std::int64_t> value = constant_int(left)) {
    return make_int(left.dtype(), floor_modulo(*value, divisor));
  }
  if (is_remainder(left, divisor)) return left;
  rest.set_constant(floor_modulo(rest.constant(), divisor));
  if (part_leaves_type(sum, rest)) rest = sum;
  return reduce(to_term(std::move(rest)), divisor, Rounding::Floor);
}

Canonical Canonicalizer::trunc_remainder(Sum sum, std::int64_t divisor) {
  auto [divisible, rest] = sum.separate(divisor);
  if (rest.is_zero()) return make_int(sum.dtype(), 0);
  Expr left = rest.expr();
  if (is_non_negative(divisible.expr()) && is_non_negative(left)) {
    if (std::optional<std::int64_t> value = constant_int(left))
      return make_int(left.dtype(), *value % divisor);
    if (is_below(left, divisor)) return left;
    sum = std::move(rest);
  }
  // Reduces the constant modulo the divisor if the sum is provably non-negative before and after.
  std::optional<std::int64_t> least = const_bound(sum.expr(), facts_).min;
  std::int64_t constant = sum.constant() % divisor;
  if (least && *least >= 0 && *least - sum.constant() + constant >= 0) sum.set_constant(constant);
  return reduce(to_term(std::move(sum)), divisor, Rounding::Trunc);
}

// ---- the pass -----------------------------------------------------------------------------------

// ---- conversions --------------------------------------------------------------------------------

Expr to_expr(const Canonical& value) {
  return match(
      value, [](const Expr& e) { return e; }, [](const Term& term) { return term.expr(); },
      [](const Sum& sum) { return sum.expr(); });
}

Term to_term(Canonical value) {
  if (Term* term = std::get_if<Term>(&value)) return std::move(*term);
  if (Sum* sum = std::get_if<Sum>(&value)) {
    if (sum->constant() == 0 && sum->terms().size() == 1) return sum->terms().front();
  }
  return Term(to_expr(value));
}

Sum to_sum(Canonical value) {
  if (Sum* sum = std::get_if<Sum>(&value)) return std::move(*sum);
  if (const Expr* e = std::get_if<Expr>(&value)) {
    if (const IntImm* number = e->as<IntImm>()) return Sum(e->dtype(), number->value);
  }
  return Sum(to_term(std::move(value)));
}

namespace {

/// Returns the value of a constant that is still a plain expression.
std::optional<std::int64_t> plain_constant(const Canonical& value) {
  const Expr* e = std::get_if<Expr>(&value);
  const IntImm* number = e ? e->as<IntImm>() : nullptr;
  return number ? std::optional(number->value) : std::nullopt;
}

/// Whether the term is a sum or a constant multiple.
bool is_scaled(const Canonical& value) {
  const Term* term = std::get_if<Term>(&value);
  return std::holds_alternative<Sum>(value) || (term && term->scale != 1);
}

Canonical zero_of(DataType type) { return make_int(type, 0); }

bool is_index_arithmetic(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add:
    case BinaryOp::Sub:
    case BinaryOp::Mul:
    case BinaryOp::TruncDiv:
    case BinaryOp::TruncMod:
    case BinaryOp::FloorDiv:
    case BinaryOp::FloorMod:
      return true;
    default:
      return false;
  }
}

}  // namespace

// ---- traversal ----------------------------------------------------------------------------------

Expr Canonicalizer::simplify(const Expr& e) {
  if (e.as<IntImm>()) return e;
  return visit_once(e, rewriting_, [&] {
    Expr result = to_expr(visit(e));
    if (!facts_.state().in_data) result = keep_wrapping(e, result, facts_.state());
    return structural_equal(result, e) ? e : result;
  });
}

Canonical Canonicalizer::visit(const Expr& e) {
  if (is_stack_low()) return with_deep_stack([&] { return visit(e); });
  if (e.as<IntImm>()) return e;
  if (e.dtype().is_index()) {
    const Binary* binary = e.as<Binary>();
    if (binary && is_index_arithmetic(binary->op)) return visit_arithmetic(*binary, e);
    if (const Cast* cast = e.as<Cast>()) return visit_cast(*cast, e);
  }
  if (e.as<Reduce>()) return visit_reduce(e);
  return rewrite_node(e, rewriting_);
}

Canonical Canonicalizer::visit_arithmetic(const Binary& node, const Expr& e) {
  const InData operands(facts_.state(), e);
  Canonical a = visit(node.a);
  Canonical b = visit(node.b);
  std::optional<std::int64_t> left = plain_constant(a), right = plain_constant(b);
  if (left && right) {
    if (std::optional<Expr> folded = fold_constants(node.op, std::get<Expr>(a), std::get<Expr>(b)))
      return *folded;
  }
  switch (node.op) {
    case BinaryOp::Add:
      if (left == 0) return b;
      if (right == 0) return a;
      return add(std::move(a), std::move(b), 1);
    case BinaryOp::Sub:
      if (right == 0) return a;
      return add(std::move(a), std::move(b), -1);
    case BinaryOp::Mul:
      return multiply(std::move(a), std::move(b));
    default:
      break;
  }
  if (is_scaled(a) && wraps(node.a, facts_.state())) {
    // Only sums that provably do not overflow are decomposed.
    if (!may_overflow(node.a, facts_.state())) {
      Canonical parts = divide(node.op, a, b, e);
      if (!may_overflow(to_expr(parts), facts_.state())) return parts;
    }
    a = Term(to_expr(a));
  }
  return divide(node.op, std::move(a), b, e);
}

Canonical Canonicalizer::divide(BinaryOp op, Canonical a, const Canonical& b, const Expr& e) {
  const std::optional<std::int64_t> left = plain_constant(a), right = plain_constant(b);
  // Folds 0 div x and 0 mod x; x == 0 is undefined.
  if (left == 0 && right != 0) return zero_of(e.dtype());
  if (right && *right > 0 && *right != kNoUpper) {
    bool is_division = op == BinaryOp::FloorDiv || op == BinaryOp::TruncDiv;
    if (*right == 1) return is_division ? a : zero_of(e.dtype());
    if (const Sum* sum = std::get_if<Sum>(&a)) {
      if (op == BinaryOp::FloorDiv) return floor_divide(*sum, *right);
      if (op == BinaryOp::TruncDiv) return trunc_divide(*sum, *right);
      if (op == BinaryOp::FloorMod) return floor_remainder(*sum, *right);
      return trunc_remainder(*sum, *right);
    }
    if (is_remainder(to_expr(a), *right)) return is_division ? zero_of(e.dtype()) : a;
    bool is_floored = op == BinaryOp::FloorDiv || op == BinaryOp::FloorMod;
    Rounding rounding = is_floored ? Rounding::Floor : Rounding::Trunc;
    return is_division ? divide(to_term(std::move(a)), *right, rounding)
                       : reduce(to_term(std::move(a)), *right, rounding);
  }
  return make_binary(op, to_expr(a), to_expr(b));
}

Canonical Canonicalizer::add(Canonical a, Canonical b, int sign) {
  Sum sum = to_sum(std::move(a));
  const auto add_b = [&](int factor) {
    const std::optional<std::int64_t> value = plain_constant(b);
    const Sum* other = std::get_if<Sum>(&b);
    return value   ? sum.add(*value, factor)
           : other ? sum.add(*other, factor)
                   : sum.add(to_term(b), factor);
  };
  if (add_b(sign)) return sum;
  // A constant or a scale overflowed. The value itself may fit its type, as in x - minimum for x <
  // 0, but such a sum can neither be divided nor bounded. The operation stays an expression.
  add_b(-sign);
  return make_binary(sign > 0 ? BinaryOp::Add : BinaryOp::Sub, sum.expr(), to_expr(b));
}

Canonical Canonicalizer::multiply(Canonical a, Canonical b) {
  if (plain_constant(a)) std::swap(a, b);
  std::optional<std::int64_t> factor = plain_constant(b);
  // A product of two unknowns is one opaque index.
  if (!factor) return fold(BinaryOp::Mul, to_expr(a), to_expr(b));
  if (*factor == 0) return b;
  if (*factor == 1) return a;
  if (const Sum* sum = std::get_if<Sum>(&a)) {
    Sum product = *sum;
    if (product.multiply(*factor)) return product;
  } else {
    Term product = to_term(a);
    if (product.multiply(*factor)) return product;
  }
  return fold(BinaryOp::Mul, to_expr(a), to_expr(b));
}

Canonical Canonicalizer::visit_cast(const Cast& node, const Expr& e) {
  if (!node.value.dtype().is_index()) return rewrite_node(e, rewriting_);
  Canonical value = visit(node.value);
  if (Sum* sum = std::get_if<Sum>(&value); sum && can_cast_terms(*sum, e.dtype(), facts_)) {
    sum->cast_terms(e.dtype());
    return value;
  }
  if (Term* term = std::get_if<Term>(&value); term && can_cast_terms(*term, e.dtype(), facts_)) {
    term->index = cast_index(e.dtype(), term->index);
    return value;
  }
  return cast(e.dtype(), to_expr(value));
}

Canonical Canonicalizer::visit_reduce(const Expr& e) {
  Expr simplified = rewrite_node(e, rewriting_);
  const Reduce* node = simplified.as<Reduce>();
  if (!node || !node->reduction->axis.empty() || !node->reduction->init.empty()) return simplified;
  // A reduction without axes has a single term. Its result is the source if the condition holds,
  // otherwise the identity element.
  auto index = static_cast<std::size_t>(node->value_index);
  const ReduceNode& reduction = *node->reduction;
  return simplify(make_select(reduction.condition, reduction.source[index],
                              reduction.combiner->identity[index]));
}

Expr canonical_simplify(const Expr& e, const Facts& facts) {
  return Canonicalizer(facts).simplify(e);
}

}  // namespace tenon::arith
