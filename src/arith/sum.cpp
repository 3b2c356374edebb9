#include "arith/sum.h"

#include <algorithm>

#include "arith/facts_state.h"
#include "tenon/tir/compare.h"

namespace tenon::arith {

using namespace tir;

namespace {

std::int64_t wrapped_sum(DataType type, std::int64_t a, std::int64_t b) {
  return wrap(
      static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b)),
      type);
}

std::int64_t wrapped_product(DataType type, std::int64_t a, std::int64_t b) {
  return wrap(
      static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b)),
      type);
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

bool Term::same_index(const Term& other) const {
  if (index.same_as(other.index)) return true;
  return index.node().hash == other.index.node().hash && structural_equal(index, other.index);
}

void Term::multiply(std::int64_t factor) { scale = wrapped_product(dtype(), scale, factor); }

Expr Term::expr(int sign) const {
  if (scale == 0) return make_int(dtype(), 0);
  Expr result = index;
  if (upper != kNoUpper) result = remainder(rounding, result, upper);
  if (lower != 1) result = quotient(rounding, result, lower);
  std::int64_t factor = wrapped_product(dtype(), scale, sign);
  return factor == 1 ? result : fold(BinaryOp::Mul, result, make_int(dtype(), factor));
}

// ---- Sum: arithmetic ----------------------------------------------------------------------------

void Sum::add(std::int64_t value) { constant_ = wrapped_sum(type_, constant_, value); }

void Sum::add(Term term, std::int64_t factor) {
  if (term.scale == 0) return;
  term.multiply(factor);
  auto place = std::find_if(terms_.begin(), terms_.end(),
                            [&](const Term& own) { return own.same_index(term); });
  for (; place != terms_.end(); ++place) {
    if (!place->same_index(term) || term.lower > place->lower) break;
    if (term.lower == place->lower && term.upper == place->upper && term.allows(place->rounding)) {
      place->scale = wrapped_sum(type_, place->scale, term.scale);
      return;
    }
  }
  terms_.insert(place, std::move(term));
}

void Sum::add(const Sum& other, std::int64_t factor) {
  for (const Term& term : other.terms_) add(term, factor);
  add(wrapped_product(type_, other.constant_, factor));
}

void Sum::multiply(std::int64_t factor) {
  constant_ = wrapped_product(type_, constant_, factor);
  for (Term& term : terms_) term.multiply(factor);
}

void Sum::divide_exactly(std::int64_t divisor) {
  constant_ /= divisor;
  for (Term& term : terms_) term.scale /= divisor;
}

Sum::Parts Sum::separate(std::int64_t divisor) const {
  Parts parts{Sum(type_), Sum(type_)};
  (constant_ % divisor == 0 ? parts.divisible : parts.rest).constant_ = constant_;
  for (const Term& term : terms_) {
    (term.scale % divisor == 0 ? parts.divisible : parts.rest).terms_.push_back(term);
  }
  return parts;
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
        low.scale = wrapped_sum(low.dtype(), low.scale, high.scale);
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

/// Orders terms by scale, divisor and modulus, all descending; floor precedes truncation. Otherwise
/// stable.
bool comes_before(const Term& a, const Term& b) {
  if (a.scale != b.scale) return a.scale > b.scale;
  if (a.lower != b.lower) return a.lower > b.lower;
  if (a.upper != b.upper) return a.upper > b.upper;
  return a.rounding > b.rounding;
}

/// Builds a chain of additions and subtractions, left-associated.
class Chain {
 public:
  explicit Chain(DataType type) : type_(type) {}
  void add(const Expr& e) { so_far_ = so_far_ ? fold(BinaryOp::Add, *so_far_, e) : e; }
  void subtract(const Expr& e) {
    so_far_ = fold(BinaryOp::Sub, so_far_ ? *so_far_ : make_int(type_, 0), e);
  }
  Expr result() const { return so_far_ ? *so_far_ : make_int(type_, 0); }

 private:
  DataType type_;
  std::optional<Expr> so_far_;
};

/// Builds the chain of a sum whose terms are in order. `on_step` sees every intermediate value and
/// may stop the construction.
template <class OnStep>
std::optional<Expr> build_chain(DataType type, const std::vector<Term>& terms,
                                std::int64_t constant, OnStep on_step) {
  Chain chain(type);
  // The minimum integer cannot be negated, so it is added like a positive scale.
  for (const Term& term : terms) {
    if (term.scale <= 0 && !is_least(type, term.scale)) continue;
    chain.add(term.expr());
    if (!on_step(chain)) return std::nullopt;
  }
  bool is_added = constant > 0 || is_least(type, constant);
  if (is_added) {
    chain.add(make_int(type, constant));
    if (!on_step(chain)) return std::nullopt;
  }
  for (const Term& term : terms) {
    if (term.scale >= 0 || is_least(type, term.scale)) continue;
    chain.subtract(term.expr(-1));
    if (!on_step(chain)) return std::nullopt;
  }
  if (constant < 0 && !is_added) {
    chain.subtract(make_int(type, -constant));
    if (!on_step(chain)) return std::nullopt;
  }
  return chain.result();
}

}  // namespace

Expr Sum::expr() const {
  if (terms_.empty()) return make_int(type_, constant_);
  std::vector<Term> terms = terms_;
  merge_pieces(terms);
  std::stable_sort(terms.begin(), terms.end(), comes_before);
  return *build_chain(type_, terms, constant_, [](const Chain&) { return true; });
}

// ---- casts --------------------------------------------------------------------------------------

namespace {

bool stays_within(const Expr& e, DataType type, const Facts& facts) {
  ConstBound bound = const_bound(e, facts);
  std::optional<std::int64_t> greatest = integer_max(type);
  return greatest && bound.is_at_least(integer_min(type)) && bound.is_at_most(*greatest);
}

}  // namespace

bool can_cast_terms(const Term& term, DataType type, const Facts& facts) {
  if (term.scale == 0) return true;
  if (type.bits >= term.dtype().bits)
    return term.scale == 1 || !may_overflow(term.expr(), facts.state());
  if (!fits(term.scale, type) || !fits(term.lower, type)) return false;
  if (!stays_within(term.index, type, facts)) return false;
  if (term.upper != kNoUpper && !fits(term.upper, type)) return false;
  // A remainder or quotient by a positive number fits if the dividend does.
  return term.scale == 1 || stays_within(term.expr(), type, facts);
}

bool can_cast_terms(const Sum& sum, DataType type, const Facts& facts) {
  if (type.bits >= sum.dtype().bits) return !may_overflow(sum.expr(), facts.state());
  auto keeps = [&](const Chain& chain) { return stays_within(chain.result(), type, facts); };
  if (!fits(sum.constant(), type)) return false;
  if (!build_chain(sum.dtype(), sum.terms(), sum.constant(), keeps)) return false;
  return std::all_of(sum.terms().begin(), sum.terms().end(),
                     [&](const Term& term) { return can_cast_terms(term, type, facts); });
}

void Sum::cast_terms(DataType type) {
  type_ = type;
  for (Term& term : terms_) term.index = cast(type, term.index);
}

}  // namespace tenon::arith
