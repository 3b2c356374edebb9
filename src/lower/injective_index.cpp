#include "lower/injective_index.h"

#include <algorithm>

#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"

namespace tenon::lowering {

using namespace tir;

namespace {

/// coefficient * v, for v in a range of `extent` values.
struct Term {
  Expr coefficient;
  Expr extent;
};

/// Whether the terms' sums are all different: from the smallest term on, each one's steps are
/// longer than the others before it reach together.
class Digits {
 public:
  explicit Digits(std::vector<Term> terms) : terms_(std::move(terms)) {
    for (Term& term : terms_) {
      const std::optional<std::int64_t> step = constant_int(term.coefficient);
      if (step && *step < 0) term.coefficient = 0 - term.coefficient;
      // Where an iteration is reached, its loop has some.
      if (!constant_int(term.extent)) scopes_.push_back(facts_.assume(term.extent >= 1));
    }
    // Constants in their order; symbolic ones in any order that can be proved.
    const auto symbolic = std::stable_partition(terms_.begin(), terms_.end(), [](const Term& term) {
      return constant_int(term.coefficient).has_value();
    });
    std::sort(terms_.begin(), symbolic, [](const Term& a, const Term& b) {
      return *constant_int(a.coefficient) < *constant_int(b.coefficient);
    });
    constants_ = static_cast<std::size_t>(symbolic - terms_.begin());
  }

  bool hold() { return hold_from(0, 0); }

 private:
  bool hold_from(std::size_t n, const Expr& reach) {
    if (n == terms_.size()) return true;
    for (std::size_t next = n; next < (n < constants_ ? n + 1 : terms_.size()); ++next) {
      std::swap(terms_[n], terms_[next]);
      const auto& [step, extent] = terms_[n];
      if (arith::can_prove_at_least(arith::simplify(step - reach, facts_), 1, facts_) &&
          hold_from(n + 1, arith::simplify(reach + step * (extent - 1), facts_)))
        return true;
      std::swap(terms_[n], terms_[next]);
    }
    return false;
  }

  std::vector<Term> terms_;
  std::size_t constants_ = 0;
  arith::Facts facts_;
  std::vector<arith::Facts::Scope> scopes_;
};

}  // namespace

bool is_injective(const Expr& index, const std::vector<RangedVar>& loops) {
  const Ramp* ramp = index.as<Ramp>();
  const Expr& first = ramp ? ramp->base : index;
  if (!first.dtype().is_scalar() || effect_of(first) != Effect::Pure) return false;
  std::vector<Var> vars;
  for (const RangedVar& loop : loops) vars.push_back(loop.var);
  const auto linear = arith::linear_form(first, vars);
  if (!linear) return false;
  std::vector<Term> terms;
  for (std::size_t n = 0; n < loops.size(); ++n)
    terms.push_back({linear->coefficients[n], loops[n].range.extent});
  if (ramp) terms.push_back({ramp->stride, make_int(ramp->stride.dtype(), ramp->lanes)});
  return Digits(std::move(terms)).hold();
}

}  // namespace tenon::lowering
