// region_lower_bound: computes a box of a tensor that is provably accessed in full. The index of
// each dimension must be a sum of pieces of domain variables that combine like the digits of a
// number: the scale of each piece is the extent of all smaller pieces together. The index then
// takes every value from its minimum to its maximum, and dimensions without common digits are
// independent.

#include <algorithm>

#include "arith/canonicalizer.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

/// The count of a digit whose variable has a symbolic extent.
constexpr std::int64_t kSymbolic = -1;

/// A piece of a domain variable: values 0 .. count-1, times its scale.
struct Digit {
  std::size_t var;
  std::int64_t lower, upper, scale, count;

  friend bool operator==(const Digit&, const Digit&) = default;
};

/// An index: `base`, which does not depend on the domain's variables, plus the sum of the digits.
struct Number {
  Sum base;
  std::vector<Digit> digits;
};

class RegionEstimate {
 public:
  explicit RegionEstimate(const std::vector<std::pair<Var, Range>>& domain) {
    for (const auto& [var, range] : domain) {
      const std::optional<std::int64_t> min = constant_int(range.min),
                                        extent = constant_int(range.extent);
      index_.emplace(&var.node(), domain_.size());
      domain_.push_back(range);
      if (!min || !extent) {
        facts_.bind(var, range);
        continue;
      }
      is_empty_ = is_empty_ || *extent <= 0;
      // A variable with a single value gets only a bound. If it were bound to the value, the
      // simplifier would substitute it, and its digits could not be recognized.
      facts_.bind_bound(var, ConstBound{min, *min + *extent - 1});
    }
    is_known_ = std::ranges::none_of(domain_, [&](const Range& range) {
      return uses_domain(range.min) || uses_domain(range.extent);
    });
    uses_.resize(domain_.size());
  }

  std::optional<std::vector<Interval>> operator()(const std::vector<Range>& region,
                                                  const Expr& predicate) {
    if (!is_known_) return std::nullopt;
    if (is_empty_) return std::vector<Interval>(region.size(), Interval::empty());
    std::vector<Number> numbers;
    for (const Range& range : region) {
      std::optional<Number> number = number_of(range.min);
      if (!number || !constant_int(range.extent)) return std::nullopt;
      for (const Digit& digit : number->digits) uses_[digit.var].push_back(digit);
      numbers.push_back(std::move(*number));
    }
    if (!are_independent() || !are_empty_without_iterations()) return std::nullopt;
    limits_.assign(region.size(), kNoUpper);
    if (!is_true(predicate) && !add_limits(predicate, numbers)) return std::nullopt;
    std::vector<Interval> result;
    for (std::size_t i = 0; i < region.size(); ++i) {
      std::optional<Interval> touched =
          touched_by(numbers[i], *constant_int(region[i].extent), limits_[i]);
      if (!touched) return std::nullopt;
      result.push_back(*touched);
    }
    return result;
  }

 private:
  bool uses_domain(const Expr& e) const {
    return uses_var(e, [&](const Expr& var) { return index_.contains(&var.node()); });
  }

  std::optional<Number> number_of(const Expr& e) {
    // Converting to an expression and back merges adjacent pieces.
    Canonicalizer canonical(facts_);
    Sum sum = canonical.sum_of(canonical.simplify(e));
    Number number{Sum(sum.dtype(), sum.constant()), {}};
    for (const Term& term : sum.terms()) {
      if (term.scale == 0) continue;
      auto it = index_.find(&term.index.node());
      if (it == index_.end()) {
        if (uses_domain(term.index)) return std::nullopt;
        number.base.add(term, 1);
        continue;
      }
      const Range& range = domain_[it->second];
      if (!term.is_whole() && !is_zero(range.min)) return std::nullopt;
      if (term.is_whole() && range.min.dtype() != sum.dtype()) return std::nullopt;
      if (term.is_whole()) number.base.add(canonical.sum_of(range.min), term.scale);
      const std::int64_t count = count_of(range.extent, term);
      if (count == 0) return std::nullopt;
      if (count != 1)
        number.digits.push_back({it->second, term.lower, term.upper, term.scale, count});
    }
    std::ranges::stable_sort(number.digits, {}, [](const Digit& digit) {
      return std::pair(std::abs(digit.scale), digit.count == kSymbolic);
    });
    return number;
  }

  /// Returns the number of values of a piece of a variable with this extent; 0 if it is unknown.
  std::int64_t count_of(const Expr& extent, const Term& term) const {
    if (const auto known = constant_int(extent))
      return ceil_divide(std::min(*known, term.upper), term.lower);
    if (!is_multiple(extent, term.upper == kNoUpper ? term.lower : term.upper)) return 0;
    return term.upper == kNoUpper ? kSymbolic : term.upper / term.lower;
  }

  bool is_multiple(const Expr& extent, std::int64_t factor) const {
    if (const auto known = constant_int(extent)) return *known % factor == 0;
    return factor == 1 ||
           can_prove(floormod(extent, make_int(extent.dtype(), factor)) == 0, facts_);
  }

  /// Whether the box is empty if a variable of symbolic extent has no values. The extent of the box
  /// must contain that variable's extent as a factor.
  bool are_empty_without_iterations() const {
    for (std::size_t var = 0; var < domain_.size(); ++var) {
      const Expr& extent = domain_[var].extent;
      const bool has_values = constant_int(extent) || can_prove(extent >= 1, facts_);
      if (!has_values && std::ranges::none_of(uses_[var], [](const Digit& digit) {
            return digit.count == kSymbolic;
          }))
        return false;
    }
    return true;
  }

  /// Whether pieces of one variable do not overlap, so that all combinations of their values occur.
  bool are_independent() const {
    for (std::size_t var = 0; var < domain_.size(); ++var) {
      const Expr& extent = domain_[var].extent;
      std::vector<Digit> pieces = uses_[var];
      std::ranges::sort(pieces, {}, &Digit::lower);
      for (std::size_t i = 1; i < pieces.size(); ++i) {
        if (pieces[i].lower % pieces[i - 1].upper != 0) return false;
        if (!is_multiple(extent, pieces[i].lower)) return false;
        if (pieces[i].upper != kNoUpper && !is_multiple(extent, pieces[i].upper)) return false;
      }
    }
    return true;
  }

  /// Reads upper limits of numbers from a conjunction of conditions `number < c`. Returns false
  /// unless each number is the index of one dimension and consists of variables that no other
  /// dimension uses.
  bool add_limits(const Expr& predicate, const std::vector<Number>& numbers) {
    if (const Binary* both = as_binary(predicate, BinaryOp::And)) {
      return add_limits(both->a, numbers) && add_limits(both->b, numbers);
    }
    const Binary* less = as_binary(predicate, BinaryOp::Lt);
    std::optional<std::int64_t> limit = less ? constant_int(less->b) : std::nullopt;
    if (!limit) return false;
    std::optional<Number> number = number_of(less->a);
    if (!number || !number->base.terms().empty()) return false;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (numbers[i].digits != number->digits) continue;
      for (const Digit& digit : number->digits) {
        if (digit.scale < 0 || digit.count == kSymbolic || uses_[digit.var].size() != 1)
          return false;
      }
      limits_[i] = std::min(limits_[i], *limit - number->base.constant());
      return limits_[i] > 0;
    }
    return false;
  }

  /// Returns the values of base + digits + [0, width), where the digits are below the limit.
  std::optional<Interval> touched_by(Number number, std::int64_t width, std::int64_t limit) const {
    std::int64_t step = number.digits.empty() ? 1 : std::abs(number.digits.front().scale);
    if (width < step) return std::nullopt;
    std::int64_t size = step;
    std::optional<Expr> symbolic;
    for (const Digit& digit : number.digits) {
      if (std::abs(digit.scale) != size || symbolic) return std::nullopt;
      if (digit.count == kSymbolic) {
        // The result must be empty if the variable has no values (are_empty_without_iterations).
        if (digit.scale < 0 || width != step) return std::nullopt;
        const Expr& extent = domain_[digit.var].extent;
        symbolic = floordiv(extent, make_int(extent.dtype(), digit.lower));
        continue;
      }
      if (digit.scale < 0) number.base.add(digit.scale * (digit.count - 1));
      size *= digit.count;
    }
    const Expr base = number.base.expr();
    if (symbolic) {
      if (limit != kNoUpper) return std::nullopt;
      const Expr extent = cast(base.dtype(), *symbolic) * make_int(base.dtype(), size);
      return Interval::from_range(Range::from_min_extent(base, simplify(extent, facts_)));
    }
    std::int64_t last = size - step;
    if (limit != kNoUpper) last = std::min(last, (limit - 1) / step * step);
    const Expr extent = make_int(base.dtype(), last + width);
    return Interval::from_range(Range::from_min_extent(base, extent));
  }

  Facts facts_;
  std::vector<Range> domain_;
  std::unordered_map<const ExprNode*, std::size_t> index_;
  /// The digits of each domain variable, in all dimensions.
  std::vector<std::vector<Digit>> uses_;
  /// Upper limits of the digits of each dimension.
  std::vector<std::int64_t> limits_;
  bool is_known_ = true;
  bool is_empty_ = false;
};

using DomainList = std::vector<std::pair<Var, Range>>;

void add_conjuncts(const Expr& e, std::vector<Expr>& list) {
  const Binary* both = as_binary(e, BinaryOp::And);
  if (!both) return list.push_back(e);
  add_conjuncts(both->a, list);
  add_conjuncts(both->b, list);
}

/// Replaces a sum that a condition `sum < c` of the predicate limits by a new variable of the
/// domain, and the condition by true. Returns false unless the sum takes every value below `c`, and
/// variables of the sum occur nowhere else.
bool narrow(std::vector<Range>& region, DomainList& domain, Expr& predicate) {
  std::vector<Expr> conditions;
  add_conjuncts(predicate, conditions);
  for (Expr& condition : conditions) {
    const Binary* less = as_binary(condition, BinaryOp::Lt);
    const auto limit = less ? constant_int(less->b) : std::nullopt;
    const auto values =
        limit ? RegionEstimate(domain)({Range::from_min_extent(less->a, 1)}, make_true())
              : std::nullopt;
    if (!values || !values->front().is_bounded()) continue;
    const auto first = constant_int(simplify(*values->front().min())),
               last = constant_int(simplify(*values->front().max()));
    if (!first || !last || *first >= *limit) continue;
    const Expr sum = less->a;
    const Var below("below", sum.dtype());
    const auto narrowed = [&](const Expr& e) {
      return rewrite(e, [&](const auto&, const Expr& part) -> std::optional<Expr> {
        return structural_equal(part, sum) ? std::optional<Expr>(below) : std::nullopt;
      });
    };
    condition = make_true();
    for (Expr& other : conditions) other = narrowed(other);
    std::vector<Expr> uses = conditions;
    for (Range& range : region) {
      range.min = narrowed(range.min);
      uses.push_back(range.min);
    }
    for (const Var& var : free_vars(sum))
      for (const Expr& use : uses)
        if (uses_var(use, var)) return false;
    domain.emplace_back(
        below,
        Range::from_min_extent(make_int(sum.dtype(), *first),
                               make_int(sum.dtype(), std::min(*last, *limit - 1) - *first + 1)));
    predicate = make_true();
    for (const Expr& each : conditions) predicate = predicate && each;
    return true;
  }
  return false;
}

}  // namespace

std::optional<std::vector<Interval>> region_lower_bound(std::vector<Range> region,
                                                        DomainList domain, Expr predicate) {
  auto result = RegionEstimate(domain)(region, predicate);
  return !result && narrow(region, domain, predicate)
             ? region_lower_bound(region, domain, predicate)
             : result;
}

}  // namespace tenon::arith
