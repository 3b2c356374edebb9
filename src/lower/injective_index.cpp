#include "lower/injective_index.h"

#include <algorithm>

#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// coefficient * v, for v in a range.
struct Term {
  Expr coefficient;
  RangedVar v;
};

/// Whether the terms' sums are all different: from the smallest term on, each one's steps are
/// longer than the others before it reach together.
class Digits {
 public:
  Digits(std::vector<Term> terms, const std::vector<Expr>& guards) : terms_(std::move(terms)) {
    for (Term& term : terms_) {
      const Expr& extent = term.v.range.extent;
      facts_.bind(term.v.var, term.v.range);
      // Where an iteration is reached, its loop has some.
      if (!constant_int(extent)) scopes_.push_back(facts_.assume(extent >= 1));
    }
    for (const Expr& guard : guards) scopes_.push_back(facts_.assume(guard));
    // Constants in their order; symbolic ones in any order that can be proved.
    const auto symbolic = std::stable_partition(terms_.begin(), terms_.end(), [](const Term& term) {
      return constant_int(term.coefficient).has_value();
    });
    std::sort(terms_.begin(), symbolic,
              [](const Term& a, const Term& b) { return step_of(a) < step_of(b); });
    constants_ = static_cast<std::size_t>(symbolic - terms_.begin());
  }

  bool hold() { return hold_from(0, {0, 0, 0}); }

 private:
  /// What the terms before add up to.
  struct Sum {
    /// The sum, and its least value.
    Expr value, least;
    /// How far its greatest value is above the least, by the ranges alone.
    Expr reach;
  };

  static std::int64_t step_of(const Term& term) {
    const std::int64_t step = *constant_int(term.coefficient);
    return step < 0 ? -step : step;
  }

  bool hold_from(std::size_t n, const Sum& sum) {
    if (n == terms_.size()) return true;
    for (std::size_t next = n; next < (n < constants_ ? n + 1 : terms_.size()); ++next) {
      std::swap(terms_[n], terms_[next]);
      if (is_next(terms_[n], sum, n)) return true;
      std::swap(terms_[n], terms_[next]);
    }
    return false;
  }

  bool is_next(const Term& term, const Sum& sum, std::size_t n) {
    const auto& [coefficient, v] = term;
    const bool is_negative = n < constants_ && *constant_int(coefficient) < 0;
    const Expr step = is_negative ? 0 - coefficient : coefficient;
    // No sum reaches less than 0, so a step that is longer is positive.
    Expr reach = sum.reach;
    if (!arith::can_prove_at_least(arith::simplify(step - reach, facts_), 1, facts_)) {
      // A guard may keep the sum smaller than the ranges do.
      const Expr value = arith::simplify(sum.value, facts_);
      if (!arith::can_prove(value < arith::simplify(sum.least + step, facts_), facts_))
        return false;
      reach = step - 1;
    }
    const Expr last = v.range.extent - 1;
    return hold_from(n + 1,
                     {sum.value + coefficient * v.var,
                      sum.least + coefficient * (is_negative ? v.range.min + last : v.range.min),
                      arith::simplify(reach + step * last, facts_)});
  }

  std::vector<Term> terms_;
  std::size_t constants_ = 0;
  arith::Facts facts_;
  std::vector<arith::Facts::Scope> scopes_;
};

/// Whether ranges and steps are numbers that tell it alone.
bool hold_as_numbers(const std::vector<Term>& terms) {
  std::vector<std::pair<std::int64_t, std::int64_t>> digits;
  for (const auto& [coefficient, v] : terms) {
    const auto step = constant_int(coefficient), extent = constant_int(v.range.extent);
    if (!step || !extent || *step == INT64_MIN) return false;
    digits.emplace_back(*step < 0 ? -*step : *step, *extent);
  }
  std::sort(digits.begin(), digits.end());
  std::int64_t reach = 0;
  for (const auto& [step, extent] : digits) {
    std::int64_t steps = 0, far = 0;
    if (step <= reach || __builtin_sub_overflow(extent, 1, &steps) ||
        __builtin_mul_overflow(step, steps, &far) || __builtin_add_overflow(reach, far, &reach))
      return false;
  }
  return true;
}

}  // namespace

bool is_injective(const Expr& index, const std::vector<RangedVar>& loops,
                  const std::vector<Expr>& guards) {
  const Ramp* ramp = index.as<Ramp>();
  const Expr& first = ramp ? ramp->base : index;
  if (!first.dtype().is_scalar() || effect_of(first) != Effect::Pure) return false;
  std::vector<Var> vars;
  for (const RangedVar& loop : loops) vars.push_back(loop.var);
  const auto linear = arith::linear_form(first, vars);
  if (!linear) return false;
  std::vector<Term> terms;
  for (std::size_t n = 0; n < loops.size(); ++n)
    terms.push_back({linear->coefficients[n], loops[n]});
  if (ramp) {
    const DataType type = ramp->stride.dtype();
    const Range lanes = Range::from_min_extent(make_int(type, 0), make_int(type, ramp->lanes));
    terms.push_back({ramp->stride, {Var("lane", type), lanes}});
  }
  return hold_as_numbers(terms) || Digits(std::move(terms), guards).hold();
}

}  // namespace tenon::lowering
