// Whether two accesses are disjoint (dependence.h).
//
// Sums first: most indices are sums of multiples of variables, whose difference reaches a set of
// values that misses 0 or not, without a proof by the simplifier.
//
//   A[i*8 + j] in iterations i and i + d, j and j' in [0, 8):    8*d + j' - j is at least 1
//
// Proofs second: with the second access's variables renamed, the guards of both assumed, and digits
// for the loop's variable. floordiv(v, 8) and floormod(v, 8) of a fused loop are its digits; if the
// iterations differ, some digit does. Each digit is a case.
#include <algorithm>

#include "tenon/arith/dependence.h"
#include "tenon/arith/index_terms.h"
#include "tenon/arith/simplify.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;
using Step = Relation::Step;

namespace {

/// find_conflict gives up after so many proofs by the simplifier.
constexpr int kMaxProofs = 1000;
constexpr std::size_t kMaxSteps = 4;
constexpr std::size_t kMaxCases = 64;
constexpr unsigned kMaxOthers = 4;

/// The positions at which expressions take a variable apart: 8 of floordiv(v, 8), floormod(v, 8),
/// and 32 of floordiv(floordiv(v, 8), 4). Each divides the next one; others are left out.
class Digits {
 public:
  explicit Digits(const Var& var) : var_(var) {}

  void add(const Expr& e) {
    if (!uses_var(e, var_)) return;
    const Binary* n = e.as<Binary>();
    if (n && (n->op == BinaryOp::FloorDiv || n->op == BinaryOp::FloorMod))
      if (const auto cut = position_of(e)) cuts_.push_back(*cut);
    for_each_child(e, [&](const Expr& child) { add(child); });
  }

  /// 1 and the cuts, ascending.
  std::vector<std::int64_t> positions() {
    std::ranges::sort(cuts_);
    std::vector<std::int64_t> result = {1};
    for (const std::int64_t cut : cuts_)
      if (cut > result.back() && cut % result.back() == 0) result.push_back(cut);
    return result;
  }

 private:
  std::optional<std::int64_t> position_of(const Expr& e) const {
    if (e.same_as(var_)) return 1;
    if (const Cast* n = e.as<Cast>()) return position_of(n->value);
    const Binary* n = e.as<Binary>();
    if (!n || (n->op != BinaryOp::FloorDiv && n->op != BinaryOp::FloorMod)) return std::nullopt;
    const auto inner = position_of(n->a);
    const auto by = constant_int(n->b);
    std::int64_t product = 0;
    if (!inner || !by || *by < 1 || __builtin_mul_overflow(*inner, *by, &product))
      return std::nullopt;
    return product;
  }

  Var var_;
  std::vector<std::int64_t> cuts_;
};

bool same_list(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::ranges::equal(a, b,
                            [](const Expr& x, const Expr& y) { return structural_equal(x, y); });
}

/// Whether equal indices are the same element.
bool same_layout(const Buffer& a, const Buffer& b) {
  if (a.same_as(b)) return true;
  return a->data.same_as(b->data) && a->dtype == b->dtype && same_list(a->shape, b->shape) &&
         same_list(a->strides, b->strides) && structural_equal(a->elem_offset, b->elem_offset);
}

/// Whether equal indices of buffers of one dimension are the same element.
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
    for (const Relation::Loop& loop : relation.loops()) {
      others_ += loop.step == Step::Other ? 1 : 0;
      if (loop.loop.range) facts_.bind(loop.loop.var, *loop.loop.range, /*replace=*/true);
      if (loop.step == Step::Any || !loop.loop.range) continue;
      // Two different iterations of a loop that has one.
      if (const auto count = constant_int(loop.loop.range->extent); count && *count < 2)
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
    bind_inner(first), bind_inner(second);
    if (const std::optional<bool> apart = apart_in_sums(first, second)) return *apart;
    if (++proofs_ > kMaxProofs) return false;
    has_digits_ = false;
    return apart_by_proof(first, second, Order::HighestFirst) ||
           (has_digits_ && apart_by_proof(first, second, Order::LowestFirst));
  }

 private:
  using Scopes = std::vector<Facts::Scope>;

  void bind_inner(const Access& access) {
    for (const FreeVar& inner : access.inner)
      if (inner.range) facts_.bind(inner.var, *inner.range, /*replace=*/true);
  }

  // ---- sums ----

  /// How a variable's values in the two accesses are related.
  enum class Kind : std::uint8_t { Same, Free, Stepped };
  struct Related {
    Kind kind = Kind::Same;
    ConstBound bound = ConstBound::everything();
    Step step = Step::Any;
    /// Among the loops of step Other.
    unsigned number = 0;
  };

  Related related(const Expr& var, const Access& first, const Access& second) const {
    const auto bound = [&](const FreeVar& free) {
      return free.range ? const_bound(var, facts_) : ConstBound::everything();
    };
    for (const Access* access : {&first, &second})
      for (const FreeVar& inner : access->inner)
        if (inner.var.same_as(var)) return {Kind::Free, bound(inner)};
    unsigned others = 0;
    for (const auto& [loop, step] : relation_.loops()) {
      if (loop.var.same_as(var))
        return {step == Step::Any ? Kind::Free : Kind::Stepped, bound(loop), step, others};
      others += step == Step::Other ? 1 : 0;
    }
    return {Kind::Same, const_bound(var, facts_)};
  }

  /// A summand of the difference: its coefficients in the second and in the first access.
  struct Term {
    Expr value;
    std::int64_t second, first;
    Related related;
  };

  struct Sum {
    std::int64_t constant = 0;
    std::vector<Term> terms;
    /// Some summand is more than a variable, or has no finite bounds.
    bool is_opaque = false;
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
    for (Term& term : sum.terms) {
      const bool is_var = term.value.as<VarNode>() != nullptr;
      if (is_var) {
        term.related = related(term.value, in_first, in_second);
      } else {
        // A function of variables that differ has two values.
        const bool differs = uses_var(term.value, [&](const Expr& var) {
          return related(var, in_first, in_second).kind != Kind::Same;
        });
        term.related = {differs ? Kind::Free : Kind::Same, const_bound(term.value, facts_)};
      }
      const bool matters = term.related.kind != Kind::Same || term.first != term.second;
      sum.is_opaque |= matters && (!is_var || !term.related.bound.min || !term.related.bound.max);
    }
    return sum;
  }

  /// Whether the sum never is 0. `later` has a bit for each loop of step Other, set where the
  /// second access is in the later iteration.
  static bool misses_zero(const Sum& sum, bool by_steps, unsigned later) {
    Reach reach(sum.constant);
    bool fits = true;
    const auto coefficient = [&](std::int64_t a, std::int64_t b) {
      std::int64_t result = 0;
      fits &= !__builtin_sub_overflow(a, b, &result);
      return result;
    };
    for (const Term& term : sum.terms) {
      const auto& [min, max] = term.related.bound;
      const auto width = minus(max, min);
      const auto negated = width ? minus(0, *width) : std::nullopt;
      switch (term.related.kind) {
        case Kind::Same:
          reach.add(coefficient(term.second, term.first), min, max);
          break;
        case Kind::Free:
          if (term.first == term.second) {
            reach.add(term.second, negated, width);
          } else {
            reach.add(term.second, min, max);
            reach.add(coefficient(0, term.first), min, max);
          }
          break;
        case Kind::Stepped: {
          if (!by_steps) {
            reach.add(term.second, min, max);
            reach.add(coefficient(0, term.first), min, max);
            break;
          }
          // The one behind has the value v, the one ahead v + d.
          const bool is_later =
              term.related.step == Step::Later ||
              (term.related.step == Step::Other && ((later >> term.related.number) & 1U) != 0);
          reach.add(coefficient(term.second, term.first), min, max);
          reach.add(is_later ? term.second : coefficient(0, term.first), 1, width);
          break;
        }
      }
    }
    return fits && reach.misses(0, 0);
  }

  bool misses_zero(const Sum& sum) const {
    if (misses_zero(sum, false, 0)) return true;
    // Each direction of each loop of step Other is a case.
    for (unsigned later = 0; later < 1U << others_; ++later)
      if (!misses_zero(sum, true, later)) return false;
    return true;
  }

  /// True: disjoint. False: no proof can tell them apart. nullopt: a proof might.
  std::optional<bool> apart_in_sums(const Access& first, const Access& second) const {
    const std::size_t rank = first.indices.size();
    bool is_final = first.guards.empty() && second.guards.empty() && rank == 1;
    for (std::size_t dim = 0; dim < rank; ++dim) {
      const auto sum = difference(second.indices[dim], first.indices[dim], first, second);
      if (sum && misses_zero(*sum)) return true;
      is_final = is_final && sum && !sum->is_opaque;
    }
    return is_final ? std::optional(false) : std::nullopt;
  }

  // ---- proofs ----

  /// The digits in the order in which they are looked at for the first one that differs.
  enum class Order : std::uint8_t { HighestFirst, LowestFirst };

  /// Values for the variables of the two accesses. `ahead` says by how far the digit that differs
  /// is ahead in the later one; it is substituted after divisions have been resolved, for which
  /// that digit must not be larger than it can be.
  struct Case {
    VarMap first, second, ahead;
  };

  Var fresh(const Var& like, const char* name, const Expr& min, const Expr& extent) {
    const Var var(name, like.dtype());
    facts_.bind(var, Range::from_min_extent(min, extent));
    return var;
  }

  /// A second value of the variable.
  Var fresh_like(const FreeVar& free, const VarMap& map, Scopes& scopes) {
    const Var var = free.var.fresh();
    if (!free.range) return var;
    const Range range = substitute(*free.range, map);
    facts_.bind(var, range);
    if (!constant_int(range.extent)) {
      // The variable exists, so its loop has an iteration.
      scopes.push_back(facts_.assume(range.extent >= 1));
      scopes.push_back(facts_.assume(var < range.min + range.extent));
    }
    return var;
  }

  std::vector<Case> cases_of(const Access& first, const Access& second, Order order,
                             Scopes& scopes) {
    std::vector<Case> cases(1);
    bool may_use_digits = true;
    for (const Relation::Loop& loop : relation_.loops()) {
      const Var& var = loop.loop.var;
      if (loop.step == Step::Any) {
        for (Case& one : cases)
          for (VarMap* map : {&one.first, &one.second})
            set(*map, var, fresh_like(loop.loop, *map, scopes));
        continue;
      }
      std::vector<std::int64_t> positions = {1};
      if (std::exchange(may_use_digits, false)) positions = digits_of(loop, first, second);
      has_digits_ |= positions.size() > 1;
      // Which digit differs first from below does not say which iteration is the later one.
      const bool is_both =
          loop.step == Step::Other || (order == Order::LowestFirst && positions.size() > 1);
      std::vector<Case> next;
      for (const Case& one : cases)
        for (const Step step : {Step::Later, Step::Earlier}) {
          if (!is_both && step != loop.step) continue;
          for (std::size_t at = 0; at < positions.size(); ++at)
            next.push_back(stepped(one, loop.loop, positions, at, order, step));
        }
      cases = std::move(next);
    }
    return cases;
  }

  static std::vector<std::int64_t> digits_of(const Relation::Loop& loop, const Access& first,
                                             const Access& second) {
    // Digits are those of a loop that counts from 0.
    if (!loop.loop.range || !is_zero(loop.loop.range->min)) return {1};
    Digits digits(loop.loop.var);
    for (const Access* access : {&first, &second}) {
      for (const Expr& index : access->indices) digits.add(index);
      for (const Expr& guard : access->guards) digits.add(guard);
    }
    std::vector<std::int64_t> positions = digits.positions();
    const auto count = constant_int(loop.loop.range->extent);
    if (count) std::erase_if(positions, [&](std::int64_t at) { return at > 1 && at >= *count; });
    return positions;
  }

  /// The case in which digit `at` is the first that differs, and is ahead in the later iteration.
  Case stepped(const Case& outer, const FreeVar& loop, const std::vector<std::int64_t>& positions,
               std::size_t at, Order order, Step step) {
    Case result = outer;
    VarMap& earlier_map = step == Step::Later ? result.first : result.second;
    VarMap& later_map = step == Step::Later ? result.second : result.first;
    const DataType type = loop.var.dtype();
    if (!loop.range) {
      const Var distance("distance", type);
      facts_.bind_bound(distance, {1, std::nullopt});
      set(earlier_map, loop.var, loop.var);
      set(later_map, loop.var, loop.var + distance);
      return result;
    }
    const Range range = substitute(*loop.range, outer.first);
    Expr earlier = range.min, later = range.min;
    for (std::size_t k = 0; k < positions.size(); ++k) {
      const Expr position = make_int(type, positions[k]);
      const bool is_last = k + 1 == positions.size();
      const Expr size = is_last ? (k == 0 ? range.extent : ceildiv(range.extent, position))
                                : make_int(type, positions[k + 1] / positions[k]);
      const Expr zero = make_int(type, 0);
      const Var digit = fresh(loop.var, "digit", zero, size);
      earlier = earlier + digit * position;
      if (order == Order::HighestFirst ? k > at : k < at) {
        later = later + digit * position;
      } else if (k == at) {
        const Var other = fresh(loop.var, "digit", zero, size);
        const Var distance = fresh(loop.var, "distance", make_int(type, 1), size - 1);
        later = later + other * position;
        set(result.ahead, other, digit + distance);
      } else {
        later = later + fresh(loop.var, "digit", zero, size) * position;
      }
    }
    set(earlier_map, loop.var, earlier);
    set(later_map, loop.var, later);
    return result;
  }

  /// New variables for those inside of the instance.
  void add_inner(const Access& access, VarMap& map, Scopes& scopes) {
    for (const FreeVar& inner : access.inner) set(map, inner.var, fresh_like(inner, map, scopes));
  }

  bool apart_by_proof(const Access& first, const Access& second, Order order) {
    Scopes scopes;
    const std::vector<Case> cases = cases_of(first, second, order, scopes);
    return cases.size() <= kMaxCases && std::ranges::all_of(cases, [&](const Case& one) {
             Instances both{first, second, one};
             Scopes own;
             add_inner(first, both.values.first, own);
             add_inner(second, both.values.second, own);
             return never_meet(both, own);
           });
  }

  struct Instances {
    const Access& first;
    const Access& second;
    Case values;
  };

  Expr resolved(const Expr& e, const VarMap& map, const Case& values) const {
    const Expr own = substitute(e, map);
    return values.ahead.empty() ? own : substitute(simplify(own, facts_), values.ahead);
  }

  bool never_meet(const Instances& both, Scopes& scopes) {
    const auto& [first, second, values] = both;
    for (const auto& [access, map] :
         {std::pair(&first, &values.first), std::pair(&second, &values.second)})
      for (const Expr& guard : access->guards) {
        const Expr condition = simplify(resolved(guard, *map, values), facts_);
        if (is_zero(condition)) return true;
        scopes.push_back(facts_.assume(condition));
      }
    return differ(both) || have_different_owners(both);
  }

  bool differ(const Instances& both) {
    const auto& [first, second, values] = both;
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
    // Or it is no multiple of the steps of a loop that it is else made of.
    std::vector<Expr> steps;
    walk(distance, [&](const Binary& n) {
      const auto step = n.op == BinaryOp::Mul ? constant_int(n.b) : std::nullopt;
      if (step && *step > 1 && steps.size() < kMaxSteps) steps.push_back(n.b);
    });
    return std::ranges::any_of(steps, [&](const Expr& step) {
      return can_prove_at_least(simplify(floormod(distance, step), facts_), 1, facts_);
    });
  }

  /// Whether guards let each element be touched in one iteration only: where both instances access
  /// the same element j, `floormod(j, 8) == p` gives p the same value in both.
  bool have_different_owners(const Instances& both) {
    const auto& [first, second, values] = both;
    if (first.guards.empty() || second.guards.empty()) return false;
    std::vector<Var> element;
    for (const Expr& index : first.indices) element.emplace_back("element", index.dtype());
    const auto keys_of = [&](const Access& access, const VarMap& map) {
      std::vector<std::pair<Expr, Expr>> keys;
      for (const Expr& guard : access.guards) {
        const Binary* n = as_binary(guard, BinaryOp::Eq);
        if (!n || !n->a.dtype().is_int()) continue;
        const Expr a = at_element(n->a, access, map, element),
                   b = at_element(n->b, access, map, element);
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

  /// The expression of one instance in terms of the element that is accessed.
  Expr at_element(const Expr& e, const Access& access, const VarMap& map,
                  const std::vector<Var>& element) const {
    VarMap own = map;
    Expr result = e;
    for (std::size_t dim = 0; dim < access.indices.size(); ++dim) {
      const Expr& index = access.indices[dim];
      for (const FreeVar& inner : access.inner) {
        // The index is the variable and an offset.
        const Expr offset = simplify(index - inner.var);
        if (!uses_var(index, inner.var) || uses_var(offset, inner.var)) continue;
        set(own, inner.var, element[dim] - substitute(offset, map));
        break;
      }
      result = replace(result, index, element[dim]);
    }
    return simplify(substitute(result, own));
  }

  static Expr replace(const Expr& e, const Expr& part, const Expr& by) {
    if (e.dtype() == part.dtype() && structural_equal(e, part)) return by;
    return map_children(e, [&](const Expr& child) { return replace(child, part, by); });
  }

  const Relation& relation_;
  Facts& facts_;
  bool is_vacuous_ = false;
  unsigned others_ = 0;
  bool has_digits_ = false;
  int proofs_ = 0;
};

}  // namespace

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

std::optional<Conflict> find_conflict(const Footprint& first, const Footprint& second,
                                      const Relation& relation, Facts& facts) {
  Prover prover(relation, facts);
  // Comparing both ways twice is no use where the relation is symmetric.
  const bool is_symmetric =
      &first == &second && std::ranges::none_of(relation.loops(), [](const Relation::Loop& loop) {
        return loop.step == Step::Later || loop.step == Step::Earlier;
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

}  // namespace tenon::arith
