// Whether two accesses are disjoint (dependence.h).
//
// First, sums: most indices are sums of multiples of variables. Their difference covers a set of
// values, and the accesses are disjoint if the set does not contain 0. This needs no proof by the
// simplifier.
//
//   A[i*8 + j] in iterations i and i + d, j and j' in [0, 8):    8*d + j' - j is at least 1
//
// Second, proofs: the second access's variables are renamed, the guards of both are assumed, and
// the loop's variable is split into digits. floordiv(v, 8) and floormod(v, 8) of a fused loop are
// its digits. If the iterations differ, some digit differs. Each digit is a case.
#include <algorithm>
#include <functional>

#include "tenon/arith/dependence.h"
#include "tenon/arith/index_terms.h"
#include "tenon/arith/interval.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/interp/evaluate.h"
#include "tenon/support/error.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;
using Step = Relation::Step;

namespace {

/// Maximum number of proofs by the simplifier for one query of find_conflict.
constexpr int kMaxProofs = 1000;
constexpr std::size_t kMaxSteps = 4;
constexpr std::size_t kMaxCases = 64;
constexpr unsigned kMaxOthers = 4;

/// Returns the position of the quotient or remainder of `var` by constants: 8 for floordiv(var, 8)
/// and floormod(var, 8), and 32 for floordiv(floordiv(var, 8), 4).
std::optional<std::int64_t> position_of(const Expr& e, const Var& var) {
  if (e.same_as(var)) return 1;
  if (const Cast* n = e.as<Cast>()) return position_of(n->value, var);
  const Binary* n = e.as<Binary>();
  if (!n || (n->op != BinaryOp::FloorDiv && n->op != BinaryOp::FloorMod)) return std::nullopt;
  const auto inner = position_of(n->a, var);
  const auto by = constant_int(n->b);
  std::int64_t product = 0;
  if (!inner || !by || *by < 1 || __builtin_mul_overflow(*inner, *by, &product))
    return std::nullopt;
  return product;
}

/// Returns 1, followed by the positions at which the expressions divide the variable, in ascending
/// order. Each position must divide the next one; others are ignored. A symbolic position, as in
/// floordiv(v, n), is used only if there is no constant position.
std::vector<Expr> digit_positions(const Var& var, const std::vector<Expr>& expressions) {
  std::vector<std::int64_t> cuts;
  std::vector<Expr> symbols;
  const std::function<void(const Expr&, bool)> add = [&](const Expr& e, bool is_conditional) {
    if (!uses_var(e, var)) return;
    const Binary* n = e.as<Binary>();
    if (n && (n->op == BinaryOp::FloorDiv || n->op == BinaryOp::FloorMod)) {
      if (const auto cut = position_of(e, var)) cuts.push_back(*cut);
      // A division under a condition may never be evaluated, so its divisor may be 0.
      if (n->a.same_as(var) && !constant_int(n->b) && !is_conditional) symbols.push_back(n->b);
    }
    for_each_operand(
        e, [&](const Expr& operand) { add(operand, is_conditional); },
        [&](const Expr&, const Expr& operand) { add(operand, true); });
  };
  for (const Expr& e : expressions) add(e, false);
  const DataType type = var.dtype();
  std::vector<Expr> result = {make_int(type, 1)};
  if (cuts.empty() && !symbols.empty() && std::ranges::all_of(symbols, [&](const Expr& each) {
        return each.dtype() == type && structural_equal(each, symbols.front());
      })) {
    result.push_back(symbols.front());
    return result;
  }
  std::ranges::sort(cuts);
  for (const std::int64_t cut : cuts) {
    const std::int64_t last = *constant_int(result.back());
    if (cut > last && cut % last == 0) result.push_back(make_int(type, cut));
  }
  return result;
}

/// Whether equal indices of the two one-dimensional buffers address the same element.
bool same_flat_layout(const Buffer& a, const Buffer& b) {
  return a->data.same_as(b->data) && a->dtype.element() == b->dtype.element() &&
         a->dtype.lanes == 1 && b->dtype.lanes == 1 && a->shape.size() == 1 &&
         b->shape.size() == 1 && a->strides.empty() && b->strides.empty() &&
         structural_equal(a->elem_offset, b->elem_offset);
}

std::optional<std::int64_t> minus(const std::optional<std::int64_t>& a,
                                  const std::optional<std::int64_t>& b) {
  std::int64_t result = 0;
  if (!a || !b || __builtin_sub_overflow(*a, *b, &result)) return std::nullopt;
  return result;
}

class Prover {
 public:
  Prover(const Relation& relation, Facts& facts) : relation_(relation), facts_(facts) {
    for (const auto& [loop, step] : relation.loops()) {
      others_ += step == Step::Other ? 1 : 0;
      if (loop.range) facts_.bind(loop.var, *loop.range, /*replace=*/true);
      if (step == Step::Any || !loop.range) continue;
      // A loop with one iteration has no two different iterations.
      if (const auto count = constant_int(loop.range->extent); count && *count < 2)
        is_vacuous_ = true;
    }
  }

  bool are_disjoint(const Access& first, const Access& second) {
    if (!first.is_write() && !second.is_write()) return true;
    if (is_vacuous_ || first.memory_key() != second.memory_key()) return true;
    if (others_ > kMaxOthers) return false;
    if (!first.is_known || !second.is_known || first.indices.size() != second.indices.size())
      return false;
    if (!same_layout(first.buffer, second.buffer) && !same_flat_layout(first.buffer, second.buffer))
      return false;
    bind_inner(first);
    if (const std::optional<Access> renamed = with_own_inner(second, first))
      return are_disjoint_as_bound(first, *renamed);
    return are_disjoint_as_bound(first, second);
  }

 private:
  using Scopes = std::vector<Facts::Scope>;

  bool are_disjoint_as_bound(const Access& first, const Access& second) {
    bind_inner(second);
    for (std::size_t dim = 0; dim < first.indices.size(); ++dim)
      if (const auto factor = common_factor(first.indices[dim], second.indices[dim])) {
        Access by_first = first, by_second = second;
        by_first.indices[dim] = factor->first, by_second.indices[dim] = factor->second;
        return are_disjoint_in_indices(by_first, by_second);
      }
    return are_disjoint_in_indices(first, second);
  }

  bool are_disjoint_in_indices(const Access& first, const Access& second) {
    if (const std::optional<bool> apart = apart_in_sums(first, second)) return *apart;
    if (++proofs_ > kMaxProofs) return false;
    has_digits_ = is_symbolic_ = false;
    made_.clear();
    return apart_by_proof(first, second, /*lowest_first=*/false) ||
           (has_digits_ && apart_by_proof(first, second, /*lowest_first=*/true));
  }

  /// Splits the factor `stride` off two products: for (i + 1)*stride and j*stride, returns i + 1
  /// and j. Returns nullopt unless the stride is provably positive.
  std::optional<std::pair<Expr, Expr>> common_factor(const Expr& a, const Expr& b) {
    const Binary *in_a = as_binary(a, BinaryOp::Mul), *in_b = as_binary(b, BinaryOp::Mul);
    if (!in_a || !in_b || !in_a->b.as<VarNode>() || !in_a->b.same_as(in_b->b)) return std::nullopt;
    const bool is_loop = std::ranges::any_of(
        relation_.loops(), [&](const auto& loop) { return loop.first.var.same_as(in_a->b); });
    if (is_loop || bound_.contains(&in_a->b.node()) ||
        const_bound(in_a->b, facts_).min.value_or(0) < 1)
      return std::nullopt;
    return std::pair(in_a->a, in_b->a);
  }

  static bool same_range(const std::optional<Range>& a, const std::optional<Range>& b) {
    return a.has_value() == b.has_value() &&
           (!a || (structural_equal(a->min, b->min) && structural_equal(a->extent, b->extent)));
  }

  void bind_inner(const Access& access) {
    for (const FreeVar& inner : access.inner) {
      const auto [known, is_new] = bound_.emplace(&inner.var.node(), inner.range);
      if (!is_new && same_range(known->second, inner.range)) continue;
      known->second = inner.range;
      facts_.forget(inner.var);
      if (inner.range) facts_.bind(inner.var, *inner.range);
      // A variable without a range is a let whose value may change between evaluations.
      if (!inner.range) bind_data(inner.var, facts_);
    }
  }

  /// Renames inner variables of `access` that have another range in `other`. This happens if two
  /// loops use the same variable. Returns nullopt if all ranges agree.
  static std::optional<Access> with_own_inner(const Access& access, const Access& other) {
    VarMap renamed;
    for (const FreeVar& inner : access.inner)
      for (const FreeVar& same : other.inner)
        if (inner.var.same_as(same.var) && !same_range(inner.range, same.range))
          set(renamed, inner.var, inner.var.fresh());
    if (renamed.empty()) return std::nullopt;
    Access result = access;
    for (auto* list : {&result.indices, &result.guards})
      for (Expr& e : *list) e = substitute(e, renamed);
    for (FreeVar& inner : result.inner) {
      inner.var = Var::of(substitute(inner.var, renamed));
      if (inner.range) inner.range = substitute(*inner.range, renamed);
    }
    return result;
  }

  // ---- sums ----

  /// The relation between a variable's values in the two accesses.
  struct Related {
    /// The step from the first access to the second one: Any if the values are unrelated, nullopt
    /// if they are equal.
    std::optional<Step> step = std::nullopt;
    ConstBound bound = ConstBound::everything();
    /// The index of the variable's loop among the loops with Step::Other.
    unsigned number = 0;
  };

  Related related(const Expr& var, const Access& first, const Access& second) const {
    const auto bound = [&](const FreeVar& free) {
      return free.range ? const_bound(var, facts_) : ConstBound::everything();
    };
    for (const Access* access : {&first, &second})
      for (const FreeVar& inner : access->inner)
        if (inner.var.same_as(var)) return {Step::Any, bound(inner)};
    unsigned others = 0;
    for (const auto& [loop, step] : relation_.loops()) {
      if (loop.var.same_as(var)) return {step, bound(loop), others};
      others += step == Step::Other ? 1 : 0;
    }
    return {std::nullopt, const_bound(var, facts_)};
  }

  /// A summand of the difference, with its coefficients in the second and in the first access.
  struct Term {
    Expr value;
    std::int64_t second, first;
    Related related;
  };

  struct Sum {
    std::int64_t constant = 0;
    std::vector<Term> terms;
    /// Whether some summand is not a variable or has no finite bounds.
    bool is_opaque = false;
    /// The modulus of arithmetic on data that wraps: a power of two. 0 for indices, which do not
    /// wrap. For 64-bit data, a smaller power of two that fits int64.
    std::int64_t modulus = 0;
  };

  std::optional<Sum> difference(const Expr& second, const Expr& first, const Access& in_first,
                                const Access& in_second) const {
    Sum sum;
    const auto add = [&](bool is_second) {
      return [&sum, is_second](const Expr& value, std::int64_t coefficient) {
        for (Term& term : sum.terms)
          if (term.value.same_as(value) || structural_equal(term.value, value))
            return !__builtin_add_overflow(is_second ? term.second : term.first, coefficient,
                                           is_second ? &term.second : &term.first);
        sum.terms.push_back({value, is_second ? coefficient : 0, is_second ? 0 : coefficient, {}});
        return true;
      };
    };
    std::int64_t of_first = 0;
    if (!for_each_term(second, 1, sum.constant, add(true)) ||
        !for_each_term(first, 1, of_first, add(false)) ||
        __builtin_sub_overflow(sum.constant, of_first, &sum.constant))
      return std::nullopt;
    for (const Expr& index : {first, second}) {
      const std::int64_t modulus = std::int64_t{1} << std::min<int>(index.dtype().bits, 62);
      if (is_wrapping_sum(index) && (sum.modulus == 0 || modulus < sum.modulus))
        sum.modulus = modulus;
    }
    for (Term& term : sum.terms) {
      const bool is_var = term.value.as<VarNode>() != nullptr;
      if (is_var) {
        term.related = related(term.value, in_first, in_second);
      } else {
        // A summand that is not a variable may differ between the accesses if it uses a variable
        // that differs.
        const bool differs = uses_var(term.value, [&](const Expr& var) {
          return related(var, in_first, in_second).step.has_value();
        });
        term.related.step = differs ? std::optional(Step::Any) : std::nullopt;
        term.related.bound = const_bound(term.value, facts_);
      }
      const bool matters = term.related.step || term.first != term.second;
      sum.is_opaque |= matters && (!is_var || !term.related.bound.min || !term.related.bound.max);
    }
    return sum;
  }

  bool is_wrapping_sum(const Expr& e) const { return e.as<Binary>() && wraps(e, facts_); }

  /// Returns the values of the sum, or nullopt if a coefficient overflows. If `later` is given, the
  /// loops' variables are related by their steps: each loop with Step::Other has a bit, which is
  /// set if the second access is in the later iteration of that loop.
  static std::optional<Reach> reach_of(const Sum& sum, std::optional<unsigned> later) {
    Reach reach(sum.constant);
    reach.add(sum.modulus, std::nullopt, std::nullopt);
    bool fits = true;
    const auto coefficient = [&](std::int64_t a, std::int64_t b) {
      std::int64_t result = 0;
      fits &= !__builtin_sub_overflow(a, b, &result);
      return result;
    };
    for (const Term& term : sum.terms) {
      const auto& [step, bound, number] = term.related;
      const auto width = minus(bound.max, bound.min);
      if (!step) {
        reach.add(coefficient(term.second, term.first), bound.min, bound.max);
      } else if (step == Step::Any && term.first == term.second) {
        reach.add(term.second, minus(0, width), width);
      } else if (step == Step::Any || !later) {
        reach.add(term.second, bound.min, bound.max);
        reach.add(coefficient(0, term.first), bound.min, bound.max);
      } else {
        // The earlier iteration has the value v, the later one v + d.
        const bool is_later =
            step == Step::Later || (step == Step::Other && ((*later >> number) & 1U) != 0);
        reach.add(coefficient(term.second, term.first), bound.min, bound.max);
        reach.add(is_later ? term.second : coefficient(0, term.first), 1, width);
      }
    }
    return fits ? std::optional(reach) : std::nullopt;
  }

  static bool misses(const Sum& sum, std::optional<unsigned> later, std::int64_t low,
                     std::int64_t high) {
    const std::optional<Reach> reach = reach_of(sum, later);
    return reach && reach->misses(low, high);
  }

  /// Whether `holds` is true in every case: each direction of each loop with Step::Other is one.
  template <class Holds>
  bool in_all_directions(Holds holds) const {
    for (unsigned later = 0; later < 1U << others_; ++later)
      if (!holds(later)) return false;
    return true;
  }

  /// Whether the sum is never 0.
  bool misses_zero(const Sum& sum) const {
    return misses(sum, std::nullopt, 0, 0) ||
           in_all_directions([&](unsigned later) { return misses(sum, later, 0, 0); });
  }

  /// The summands of a sum whose values a guard bounds together: factor * [min, max]. The guard
  /// j*3 + k < 16 gives j*3 + k a tighter bound than the ranges of j and k do.
  struct GuardedPart {
    std::vector<Term*> terms;
    std::int64_t factor;
    std::optional<std::int64_t> min, max;
  };

  /// Returns the part that `guard` bounds. Each of its summands must satisfy `is_usable`, and
  /// `coefficient_of` a summand must be the same multiple of the guard's coefficient for all.
  template <class IsUsable, class CoefficientOf>
  std::optional<GuardedPart> guarded_part(Sum& sum, const Expr& guard, IsUsable is_usable,
                                          CoefficientOf coefficient_of) const {
    const Binary* n = guard.as<Binary>();
    if (!n || !n->a.dtype().is_int()) return std::nullopt;
    const bool is_less = n->op == BinaryOp::Lt || n->op == BinaryOp::Le;
    if (!is_less && n->op != BinaryOp::Gt && n->op != BinaryOp::Ge) return std::nullopt;
    if (sum.modulus != 0 || is_wrapping_sum(n->a) || is_wrapping_sum(n->b)) return std::nullopt;
    const bool is_strict = n->op == BinaryOp::Lt || n->op == BinaryOp::Gt;
    // The guard, with its constants on one side, is: sum of the terms <= -constant.
    std::int64_t constant = is_strict ? 1 : 0;
    std::vector<Term*> terms;
    std::optional<std::int64_t> factor;
    Reach reach(0);
    const auto add = [&](const Expr& value, std::int64_t coefficient) {
      const auto term = std::ranges::find_if(
          sum.terms, [&](const Term& each) { return each.value.same_as(value); });
      if (term == sum.terms.end() || !is_usable(*term) || coefficient == 0 ||
          std::ranges::find(terms, &*term) != terms.end())
        return false;
      const std::int64_t own = coefficient_of(*term);
      if (own % coefficient != 0 || (factor && *factor != own / coefficient)) return false;
      factor = own / coefficient;
      terms.push_back(&*term);
      reach.add(coefficient, term->related.bound.min, term->related.bound.max);
      return true;
    };
    const auto& [less, more] = is_less ? std::pair(n->a, n->b) : std::pair(n->b, n->a);
    if (!for_each_term(less, 1, constant, add) || !for_each_term(more, -1, constant, add) ||
        !factor || *factor == 0)
      return std::nullopt;
    return GuardedPart{std::move(terms), *factor, reach.min(), minus(0, constant)};
  }

  /// Merges the summands that a guard bounds together into one summand with this bound. Returns
  /// false if no guard bounds any part of the sum.
  bool gather_guarded(Sum& sum, const Access& first, const Access& second) const {
    bool found = false;
    for (const Expr& guard : first.guards) found |= gather_guarded(sum, guard, false);
    for (const Expr& guard : second.guards) found |= gather_guarded(sum, guard, true);
    return found;
  }

  bool gather_guarded(Sum& sum, const Expr& guard, bool is_second) const {
    const auto coefficient_in = [&](Term& term) -> std::int64_t& {
      return is_second ? term.second : term.first;
    };
    const auto part = guarded_part(
        sum, guard, [](const Term& term) { return term.related.step == Step::Any; },
        coefficient_in);
    if (!part) return false;
    for (Term* term : part->terms) coefficient_in(*term) = 0;
    Term gathered{guard, 0, 0, {Step::Any, {part->min, part->max}}};
    coefficient_in(gathered) = part->factor;
    sum.terms.push_back(gathered);
    return true;
  }

  /// Whether a guard of both accesses splits the sum into digits that are not both 0. The guard
  /// i*6 + j < 16 makes i*6 + j a digit of k*16 + i*6 + j: it differs by less than 16 between the
  /// accesses, so the sum is 0 only if the digit and k are equal in both.
  bool misses_zero_in_digits(const Sum& sum, const Access& first, const Access& second) const {
    return std::ranges::any_of(first.guards, [&](const Expr& guard) {
      if (std::ranges::none_of(second.guards,
                               [&](const Expr& other) { return structural_equal(guard, other); }))
        return false;
      Sum high = sum;
      const auto part = guarded_part(
          high, guard, [](const Term& term) { return term.first == term.second; },
          [](const Term& term) { return term.second; });
      const auto width = part ? minus(part->max, part->min) : std::nullopt;
      std::int64_t most = 0;
      if (!width || *width < 0 || part->factor < 0 ||
          __builtin_mul_overflow(*width, part->factor, &most))
        return false;
      Sum low;
      for (Term* term : part->terms) {
        low.terms.push_back(*term);
        term->first = term->second = 0;
      }
      return in_all_directions([&](unsigned later) {
        return misses(high, later, -most, -1) && misses(high, later, 1, most) &&
               (misses(high, later, 0, 0) || misses(low, later, 0, 0));
      });
    });
  }

  /// Compares the accesses without the simplifier. Returns true if they are disjoint, false if they
  /// are not provably disjoint by any method, and nullopt if a proof by the simplifier may succeed.
  std::optional<bool> apart_in_sums(const Access& first, const Access& second) const {
    const std::size_t rank = first.indices.size();
    bool is_final = first.guards.empty() && second.guards.empty() && rank == 1;
    for (std::size_t dim = 0; dim < rank; ++dim) {
      auto sum = difference(second.indices[dim], first.indices[dim], first, second);
      if (sum && misses_zero(*sum)) return true;
      if (sum && misses_zero_in_digits(*sum, first, second)) return true;
      if (sum && gather_guarded(*sum, first, second) && misses_zero(*sum)) return true;
      is_final = is_final && sum && !sum->is_opaque;
    }
    return is_final ? std::optional(false) : std::nullopt;
  }

  // ---- proofs ----

  /// Values for the variables of one access, and for symbolic quotients and remainders of its loop.
  struct Instance {
    VarMap vars;
    std::vector<std::pair<Expr, Expr>> digits = {};

    Expr in(const Expr& e) const {
      Expr result = e;
      for (const auto& [part, value] : digits) result = replace(result, part, value);
      return substitute(result, vars);
    }
  };

  /// Values for the variables of the two accesses. `ahead` is the distance of the differing digit
  /// in the later access. It is substituted after divisions have been resolved, because resolving
  /// them requires the digit to stay in range.
  struct Case {
    Instance first, second;
    VarMap ahead;
  };

  Var fresh(const Var& like, const char* name, const Expr& min, const Expr& extent) {
    const Var var(name, like.dtype());
    bind(var, Range::from_min_extent(min, extent));
    return var;
  }

  void bind(const Var& var, const Range& range) {
    facts_.bind(var, range);
    values_.set(var, Interval::from_range(range));
    made_.push_back(var);
    is_symbolic_ = is_symbolic_ || !constant_int(range.extent);
  }

  /// Returns a fresh variable that stands for `free` in one of the two accesses, and binds it to
  /// the range of `free` in terms of that instance's variables.
  Var fresh_like(const FreeVar& free, const Instance& instance, Scopes& scopes) {
    const Var var = free.var.fresh();
    if (!free.range) return var;
    const Range range =
        Range::from_min_extent(instance.in(free.range->min), instance.in(free.range->extent));
    bind(var, range);
    if (!constant_int(range.extent)) {
      // The variable has a value, so its loop has an iteration.
      scopes.push_back(facts_.assume(make_int(range.extent.dtype(), 1) <= range.extent));
      scopes.push_back(facts_.assume(var < range.min + range.extent));
    }
    return var;
  }

  /// Returns the cases that together cover all related iterations. Each digit of a loop is a case,
  /// in which it is the first digit that differs, from the highest or from the lowest one.
  std::vector<Case> cases_of(const Access& first, const Access& second, bool lowest_first,
                             Scopes& scopes) {
    std::vector<Case> cases(1);
    bool may_use_digits = true;
    for (const auto& [loop, loop_step] : relation_.loops()) {
      const Var& var = loop.var;
      if (loop_step == Step::Any) {
        for (Case& one : cases)
          for (Instance* instance : {&one.first, &one.second})
            set(instance->vars, var, fresh_like(loop, *instance, scopes));
        continue;
      }
      std::vector<Expr> positions = {make_int(var.dtype(), 1)};
      if (std::exchange(may_use_digits, false)) positions = digits_of(loop, first, second);
      has_digits_ |= positions.size() > 1;
      // The division happens in some iteration, so the divisor is not 0.
      if (!constant_int(positions.back()))
        scopes.push_back(facts_.assume(make_int(var.dtype(), 1) <= positions.back()));
      // The lowest digit that differs does not determine which iteration is later, so both
      // directions are cases.
      const bool is_both = loop_step == Step::Other || (lowest_first && positions.size() > 1);
      std::vector<Case> next;
      for (const Case& one : cases)
        for (const Step step : {Step::Later, Step::Earlier}) {
          if (!is_both && step != loop_step) continue;
          for (std::size_t at = 0; at < positions.size(); ++at)
            next.push_back(stepped(one, loop, positions, at, lowest_first, step));
        }
      cases = std::move(next);
      // The loop has at least two iterations, because the accesses are in different ones.
      if (loop.range && !constant_int(loop.range->extent))
        scopes.push_back(facts_.assume(make_int(var.dtype(), 2) <= loop.range->extent));
    }
    return cases;
  }

  std::vector<Expr> digits_of(const FreeVar& loop, const Access& first,
                              const Access& second) const {
    const Expr one = make_int(loop.var.dtype(), 1);
    // Only a loop that starts at 0 is split into digits.
    if (!loop.range || !is_zero(loop.range->min)) return {one};
    std::vector<Expr> expressions;
    for (const Access* access : {&first, &second})
      for (const auto* list : {&access->indices, &access->guards})
        for (const Expr& e : *list) expressions.push_back(simplify(e, facts_));
    std::vector<Expr> positions = digit_positions(loop.var, expressions);
    const auto differs = [&](const Expr& var) {
      return related(var, first, second).step.has_value();
    };
    if (!constant_int(positions.back()) &&
        (uses_var(positions.back(), differs) || !can_prove(positions.back() >= 0, facts_)))
      return {one};
    const auto count = constant_int(loop.range->extent);
    std::erase_if(positions, [&](const Expr& at) {
      const auto position = constant_int(at);
      return count && position && *position > 1 && *position >= *count;
    });
    return positions;
  }

  /// Returns the case in which digit `at` is the first that differs and is ahead in the later
  /// iteration.
  Case stepped(const Case& outer, const FreeVar& loop, const std::vector<Expr>& positions,
               std::size_t at, bool lowest_first, Step step) {
    Case result = outer;
    Instance& in_earlier = step == Step::Later ? result.first : result.second;
    Instance& in_later = step == Step::Later ? result.second : result.first;
    const DataType type = loop.var.dtype();
    if (!loop.range) {
      const Var distance("distance", type);
      facts_.bind_bound(distance, {1, std::nullopt});
      set(in_earlier.vars, loop.var, loop.var);
      set(in_later.vars, loop.var, loop.var + distance);
      return result;
    }
    const Range range =
        Range::from_min_extent(outer.first.in(loop.range->min), outer.first.in(loop.range->extent));
    Expr earlier = range.min, later = range.min;
    for (std::size_t k = 0; k < positions.size(); ++k) {
      const Expr& position = positions[k];
      const Expr size = k + 1 < positions.size() ? ratio(positions[k + 1], position)
                        : k == 0                 ? range.extent
                                                 : ceildiv(range.extent, position);
      const Expr zero = make_int(type, 0);
      const Var digit = fresh(loop.var, "digit", zero, size);
      Var other = digit;
      if (lowest_first ? k >= at : k <= at) other = fresh(loop.var, "digit", zero, size);
      if (k == at) {
        const Var distance = fresh(loop.var, "distance", make_int(type, 1), size - 1);
        set(result.ahead, other, digit + distance);
      }
      earlier = earlier + digit * position;
      later = later + other * position;
      if (constant_int(positions.back())) continue;
      const BinaryOp op = k == 0 ? BinaryOp::FloorMod : BinaryOp::FloorDiv;
      const Expr part = make_binary(op, loop.var, positions.back());
      in_earlier.digits.emplace_back(part, digit);
      in_later.digits.emplace_back(part, other);
    }
    set(in_earlier.vars, loop.var, earlier);
    set(in_later.vars, loop.var, later);
    return result;
  }

  /// Returns the factor from a digit's position to the next one. The position that precedes a
  /// symbolic one is 1.
  static Expr ratio(const Expr& next, const Expr& position) {
    const auto to = constant_int(next), from = constant_int(position);
    return to && from ? make_int(next.dtype(), *to / *from) : next;
  }

  /// Adds a new variable to the instance for each inner variable of its access.
  void add_inner(const Access& access, Instance& instance, Scopes& scopes) {
    for (const FreeVar& inner : access.inner)
      set(instance.vars, inner.var, fresh_like(inner, instance, scopes));
  }

  bool apart_by_proof(const Access& first, const Access& second, bool lowest_first) {
    Scopes scopes;
    std::vector<Case> cases = cases_of(first, second, lowest_first, scopes);
    return cases.size() <= kMaxCases && std::ranges::all_of(cases, [&](Case& values) {
             Scopes own;
             add_inner(first, values.first, own);
             add_inner(second, values.second, own);
             return never_conflict(first, second, values, own);
           });
  }

  Expr resolved(const Expr& e, const Instance& instance, const Case& values) const {
    const Expr own = instance.in(e);
    return values.ahead.empty() ? own : substitute(simplify(own, facts_), values.ahead);
  }

  bool never_conflict(const Access& first, const Access& second, const Case& values,
                      Scopes& scopes) {
    const auto is_ahead = [&](const Expr& var) { return values.ahead.contains(&var.node()); };
    // Assumes the guards of the earlier iteration first, because they may decide a guard of the
    // later iteration.
    for (const bool is_later : {false, true})
      for (const auto& [access, instance] :
           {std::pair(&first, &values.first), std::pair(&second, &values.second)})
        for (const Expr& guard : access->guards) {
          if (uses_var(instance->in(guard), is_ahead) != is_later) continue;
          const Expr condition = simplify(resolved(guard, *instance, values), facts_);
          if (is_zero(condition)) return true;
          scopes.push_back(facts_.assume(condition));
        }
    return differ(first, second, values) || have_different_owners(first, second, values);
  }

  bool differ(const Access& first, const Access& second, const Case& values) {
    const auto in_first = [&](const Expr& e) { return resolved(e, values.first, values); };
    const auto in_second = [&](const Expr& e) { return resolved(e, values.second, values); };
    const std::size_t rank = first.indices.size();
    for (std::size_t dim = 0; dim < rank; ++dim)
      if (is_apart(in_first(first.indices[dim]), in_second(second.indices[dim]))) return true;
    const Buffer& buffer = first.buffer;
    if (rank < 2 || buffer->shape.size() != rank || !buffer->strides.empty()) return false;
    const std::vector<Expr> strides = compact_strides(buffer->shape);
    Expr first_at = 0, second_at = 0;
    for (std::size_t dim = 0; dim < rank; ++dim) {
      first_at = first_at + first.indices[dim] * strides[dim];
      second_at = second_at + second.indices[dim] * strides[dim];
    }
    return is_apart(in_first(first_at), in_second(second_at));
  }

  bool is_apart(const Expr& a, const Expr& b) {
    const Expr distance = simplify(b - a, facts_);
    if (can_prove_at_least(distance, 1, facts_) || can_prove_below(distance, 0, facts_))
      return true;
    if (is_symbolic_ && is_apart_by_symbols(b - a)) return true;
    // Fallback: take each constant c > 1 that multiplies a term of the distance. If the distance is
    // provably not a multiple of c, it is not 0.
    std::vector<Expr> steps;
    walk(distance, [&](const Binary& n) {
      const auto step = n.op == BinaryOp::Mul ? constant_int(n.b) : std::nullopt;
      if (step && *step > 1 && steps.size() < kMaxSteps) steps.push_back(n.b);
    });
    return std::ranges::any_of(steps, [&](const Expr& step) {
      return can_prove_at_least(simplify(floormod(distance, step), facts_), 1, facts_);
    });
  }

  /// Whether the distance is provably positive, or provably negative, by its symbolic bounds:
  /// d*n + j' - j >= 1 for d >= 1 and j, j' in [0, n).
  bool is_apart_by_symbols(const Expr& distance) {
    std::vector<Var> used;
    for (const Var& var : made_)
      if (uses_var(distance, var)) used.push_back(var);
    const auto form = linear_form(distance, used);
    if (!form) return false;
    // A term that is added to both indices cancels. This is valid because a distance between
    // elements of a buffer does not overflow.
    Expr sum = simplify(form->base, facts_);
    for (std::size_t n = 0; n < used.size(); ++n)
      sum = sum + used[n] * simplify(form->coefficients[n], facts_);
    const Interval ends = values_of(simplify(sum, facts_), values_, facts_);
    return (ends.min() && can_prove_at_least(simplify(*ends.min(), facts_), 1, facts_)) ||
           (ends.max() && can_prove_below(simplify(*ends.max(), facts_), 0, facts_));
  }

  /// Whether guards assign each element to a single iteration. With the guard `floormod(j, 8) ==
  /// p`, two iterations that access the same element j have the same value of p.
  bool have_different_owners(const Access& first, const Access& second, const Case& values) {
    if (first.guards.empty() || second.guards.empty()) return false;
    std::vector<Var> element;
    for (std::size_t dim = 0; dim < first.indices.size(); ++dim) {
      const DataType type = first.indices[dim].dtype();
      if (second.indices[dim].dtype() != type) return false;
      element.emplace_back("element", type);
    }
    const auto keys_of = [&](const Access& access, const Instance& instance) {
      std::vector<std::pair<Expr, Expr>> keys;
      for (const Expr& guard : access.guards) {
        const Binary* n = as_binary(guard, BinaryOp::Eq);
        if (!n || !n->a.dtype().is_int()) continue;
        const Expr a = at_element(n->a, access, instance, element),
                   b = at_element(n->b, access, instance, element);
        keys.emplace_back(a, b);
        keys.emplace_back(b, a);
      }
      return keys;
    };
    const auto of_first = keys_of(first, values.first), of_second = keys_of(second, values.second);
    for (const auto& [key, owner] : of_first)
      for (const auto& [other_key, other_owner] : of_second)
        if (structural_equal(key, other_key) &&
            is_apart(resolved(owner, {}, values), resolved(other_owner, {}, values)))
          return true;
    return false;
  }

  /// Returns `e` of one access with its inner variables expressed by the accessed element's
  /// indices.
  Expr at_element(const Expr& e, const Access& access, const Instance& instance,
                  const std::vector<Var>& element) const {
    Instance own = instance;
    Expr result = e;
    for (std::size_t dim = 0; dim < access.indices.size(); ++dim) {
      const Expr& index = access.indices[dim];
      for (const FreeVar& inner : access.inner) {
        // Solves only an index that is the variable plus an offset.
        const Expr offset = simplify(index - inner.var);
        if (!uses_var(index, inner.var) || uses_var(offset, inner.var) || is_wrapping_sum(index))
          continue;
        set(own.vars, inner.var, element[dim] - instance.in(offset));
        break;
      }
      result = replace(result, index, element[dim]);
    }
    return simplify(own.in(result));
  }

  static Expr replace(const Expr& e, const Expr& part, const Expr& by) {
    if (e.dtype() == part.dtype() && structural_equal(e, part)) return by;
    return map_children(e, [&](const Expr& child) { return replace(child, part, by); });
  }

  const Relation& relation_;
  Facts& facts_;
  /// The inner variables that have facts, and their ranges.
  std::unordered_map<const ExprNode*, std::optional<Range>> bound_;
  /// The state of the pair of accesses being compared: the variables created for its cases, their
  /// values, and whether an extent is symbolic.
  std::vector<Var> made_;
  IntervalMap values_;
  bool is_symbolic_ = false;
  bool is_vacuous_ = false;
  unsigned others_ = 0;
  bool has_digits_ = false;
  int proofs_ = 0;
};

}  // namespace

bool same_layout(const Buffer& a, const Buffer& b) {
  if (a.same_as(b)) return true;
  return a->data.same_as(b->data) && a->dtype == b->dtype && structural_equal(a->shape, b->shape) &&
         structural_equal(a->strides, b->strides) &&
         structural_equal(a->elem_offset, b->elem_offset);
}

Relation Relation::with(const For& loop, Step step) && {
  return std::move(*this).with(loop.var, Range::from_min_extent(loop.min, loop.extent), step);
}

Relation Relation::with(Var var, std::optional<Range> range, Step step) && {
  loops_.push_back({{std::move(var), std::move(range)}, step});
  return std::move(*this);
}

bool are_disjoint(const Access& first, const Access& second, const Relation& relation,
                  Facts& facts) {
  return Prover(relation, facts).are_disjoint(first, second);
}

std::int64_t value_of(const Expr& e, const Values& values) {
  return evaluate_int(e, [&](const Var& var) {
    const auto found = values.find(&var.node());
    if (found == values.end()) throw RuntimeError(var.name() + " is not known");
    return found->second;
  });
}

void for_each_element(const Access& access, Values& values,
                      const std::function<void(std::int64_t, bool)>& visit, std::size_t depth) {
  if (depth < access.inner.size()) {
    const auto& [var, range] = access.inner[depth];
    if (!range) return for_each_element(access, values, visit, depth + 1);
    const std::int64_t first = value_of(range->min, values);
    const std::int64_t extent = value_of(range->extent, values);
    for (std::int64_t n = 0; n < extent; ++n) {
      values[&var.node()] = first + n;
      for_each_element(access, values, visit, depth + 1);
    }
    values.erase(&var.node());
    return;
  }
  bool is_certain = !access.has_other_guards;
  for (const Expr& guard : access.guards) {
    try {
      if (value_of(guard, values) == 0) return;
    } catch (const RuntimeError&) {
      is_certain = false;
    }
  }
  if (!access.is_known || access.indices.size() != 1) throw RuntimeError("an index is not known");
  visit(value_of(access.indices[0], values), is_certain);
}

bool are_disjoint_by_trial(Access first, Access second, const std::vector<FreeVar>& vars,
                           const Relation& relation) {
  // The step of each variable that is a loop of the relation. Nullopt for other variables, whose
  // values are equal in both accesses.
  std::vector<std::optional<Step>> steps(vars.size());
  for (std::size_t n = 0; n < vars.size(); ++n)
    for (const auto& [loop, step] : relation.loops())
      if (loop.var.same_as(vars[n].var)) steps[n] = step;
  using Instance = std::vector<std::int64_t>;
  const auto are_related = [&](const Instance& a, const Instance& b) {
    for (std::size_t n = 0; n < steps.size(); ++n) {
      if (steps[n] == Step::Any) continue;
      if ((a[n] == b[n]) != !steps[n].has_value()) return false;
      if ((steps[n] == Step::Later && b[n] < a[n]) || (steps[n] == Step::Earlier && b[n] > a[n]))
        return false;
    }
    return true;
  };
  constexpr int kMaxTrials = 1 << 11;
  int trials = 0;
  Values values;
  const auto instance = [&] {
    if (++trials > kMaxTrials) throw RuntimeError("too many elements");
    Instance result;
    for (const FreeVar& v : vars) result.push_back(value_of(v.var, values));
    return result;
  };
  std::unordered_map<std::int64_t, std::vector<Instance>> accessed;
  for (Access* access : {&first, &second})
    access->inner.insert(access->inner.begin(), vars.begin(), vars.end());
  try {
    for_each_element(first, values,
                     [&](std::int64_t element, bool) { accessed[element].push_back(instance()); });
    for_each_element(second, values, [&](std::int64_t element, bool) {
      const Instance own = instance();
      for (const Instance& other : accessed[element])
        if (++trials > kMaxTrials || are_related(other, own)) throw RuntimeError("a conflict");
    });
    return true;
  } catch (const RuntimeError&) {  // a conflict, or an unknown value
    return false;
  }
}

bool touches_distinct_elements(const Access& access, const std::vector<FreeVar>& loops,
                               Facts& facts) {
  Access own = access;
  std::vector<FreeVar> all = loops;
  all.insert(all.end(), access.inner.begin(), access.inner.end());
  own.kind = AccessKind::Write;
  own.inner.clear();
  std::vector<Facts::Scope> scopes;
  for (const FreeVar& loop : all) {
    if (!loop.range) return false;
    facts.bind(loop.var, *loop.range, /*replace=*/true);
    const Expr& extent = loop.range->extent;
    if (!constant_int(extent))
      scopes.push_back(facts.assume(make_int(extent.dtype(), 1) <= extent));
  }
  // Two different iterations first differ in some loop, counted from the outermost. Each loop is a
  // case, in which the loops inside it may have any values.
  for (std::size_t first = 0; first < all.size(); ++first) {
    Relation relation = Relation().with(all[first].var, all[first].range, Step::Other);
    for (std::size_t n = first + 1; n < all.size(); ++n)
      relation = std::move(relation).with(all[n].var, all[n].range, Step::Any);
    if (!are_disjoint(own, own, relation, facts)) return false;
  }
  return true;
}

std::optional<Conflict> find_conflict(const Footprint& first, const Footprint& second,
                                      const Relation& relation, Facts& facts) {
  Prover prover(relation, facts);
  // For a symmetric relation, comparing both orders is redundant.
  const bool is_symmetric =
      &first == &second && std::ranges::none_of(relation.loops(), [](const auto& loop) {
        return loop.second == Step::Later || loop.second == Step::Earlier;
      });
  for (std::size_t a = 0; a < first.accesses.size(); ++a)
    for (std::size_t b = is_symmetric ? a : 0; b < second.accesses.size(); ++b)
      if (!prover.are_disjoint(first.accesses[a], second.accesses[b]))
        return Conflict{first.accesses[a], second.accesses[b]};
  if (!first.is_opaque && !second.is_opaque) return std::nullopt;
  const Footprint& opaque = first.is_opaque ? first : second;
  const Footprint& other = first.is_opaque ? second : first;
  if (opaque.accesses.empty() || other.accesses.empty()) return std::nullopt;
  return Conflict{opaque.accesses.back(), other.accesses.front()};
}

Facts facts_of_arguments(const tir::PrimFunc& func) {
  Facts facts;
  for (const BufferParam& param : func.buffers) {
    for (const Expr& extent : param.declared->shape)
      if (extent.as<VarNode>()) facts.bind_bound(Var::of(extent), {0, std::nullopt});
    for (const Expr& stride : param.declared->strides)
      if (stride.as<VarNode>()) facts.bind_bound(Var::of(stride), {1, std::nullopt});
  }
  return facts;
}

}  // namespace tenon::arith
