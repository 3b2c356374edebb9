#include "tenon/arith/facts.h"

#include <bit>

#include "arith/facts_state.h"
#include "arith/rewrite_step.h"
#include "tenon/arith/simplify.h"
#include "tenon/support/mix.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/print.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

/// Returns the argument of a `likely` hint; other expressions unchanged.
Expr without_hint(const Expr& condition) {
  const Call* hint = as_call(condition, Intrin::likely);
  return hint ? hint->args[0] : condition;
}

/// Calls f on the parts of a conjunction.
template <class F>
void for_each_conjunct(const Expr& condition, const F& f) {
  const Expr inside = without_hint(condition);
  if (const Binary* both = as_binary(inside, BinaryOp::And)) {
    for_each_conjunct(both->a, f);
    for_each_conjunct(both->b, f);
    return;
  }
  f(inside);
}

std::optional<std::int64_t> scalar_constant(const Expr& e) {
  if (const IntImm* n = e.as<IntImm>()) return n->value;
  return std::nullopt;
}

/// Returns the bound of e for `e < c`, `c <= e` and similar with a constant c.
std::optional<Facts::State::BoundFact> bound_fact(const Expr& condition) {
  const Binary* n = condition.as<Binary>();
  if (!n) return std::nullopt;
  const auto a = scalar_constant(n->a), b = scalar_constant(n->b);
  if (a.has_value() == b.has_value()) return std::nullopt;
  const std::int64_t c = a ? *a : *b;
  const Expr& e = a ? n->b : n->a;
  if (!e.dtype().is_int() || c == Bound::kPlusInfinity || c == Bound::kMinusInfinity)
    return std::nullopt;
  // A load cannot have a bound, because another occurrence of it may read another value.
  if (effect_of(e) != Effect::Pure) return std::nullopt;
  Bound bound;
  switch (n->op) {
    case BinaryOp::Le:
      (a ? bound.min : bound.max) = c;
      break;
    case BinaryOp::Lt:
      a ? bound.min = c + 1 : bound.max = c - 1;
      break;
    case BinaryOp::Eq:
      bound = Bound::exactly(c);
      break;
    default:
      return std::nullopt;
  }
  return Facts::State::BoundFact{e, bound};
}

/// Returns x and its modular set for `x % c == b` with a variable x.
std::optional<std::pair<Expr, ModularSet>> modular_fact(const Expr& condition) {
  const Binary* equal = as_binary(condition, BinaryOp::Eq);
  if (!equal) return std::nullopt;
  const Binary* remainder = equal->a.as<Binary>();
  if (!remainder || (remainder->op != BinaryOp::FloorMod && remainder->op != BinaryOp::TruncMod))
    return std::nullopt;
  const auto coeff = scalar_constant(remainder->b), base = scalar_constant(equal->b);
  if (!remainder->a.as<VarNode>() || !coeff || *coeff <= 0 || !base) return std::nullopt;
  // A truncated remainder may be negative. Adding the divisor gives the same residue class.
  const std::int64_t in_range = (*base % *coeff + *coeff) % *coeff;
  return std::pair(remainder->a, ModularSet{*coeff, in_range});
}

/// Returns the negation of a simplified condition, with `!` pushed inwards.
Expr negated(const Expr& condition) {
  if (const Not* n = condition.as<Not>()) return n->a;
  const Binary* n = condition.as<Binary>();
  if (!n) return make_not(condition);
  switch (n->op) {
    case BinaryOp::Or:
      return make_binary(BinaryOp::And, negated(n->a), negated(n->b));
    case BinaryOp::And:
      return make_binary(BinaryOp::Or, negated(n->a), negated(n->b));
    case BinaryOp::Lt:
      return make_binary(BinaryOp::Le, n->b, n->a);
    case BinaryOp::Le:
      return make_binary(BinaryOp::Lt, n->b, n->a);
    case BinaryOp::Gt:
      return make_binary(BinaryOp::Le, n->a, n->b);
    case BinaryOp::Ge:
      return make_binary(BinaryOp::Lt, n->a, n->b);
    case BinaryOp::Eq:
      return make_binary(BinaryOp::Ne, n->a, n->b);
    case BinaryOp::Ne:
      return make_binary(BinaryOp::Eq, n->a, n->b);
    default:
      return make_not(condition);
  }
}

Facts::State::Literal literal(const Expr& e, bool holds) {
  if (const Not* n = e.as<Not>()) return literal(n->a, !holds);
  return {e, holds};
}

void check_rebinding(bool is_allowed, const Var& var) {
  if (is_allowed) return;
  internal_error("the variable `" + var.name() + "` is bound twice, to different values");
}

}  // namespace

// ---- the state ----------------------------------------------------------------------------------

namespace {

template <class... T>
std::uint64_t mark_of(const Expr& e, T... more) {
  std::uint64_t mark = e.node().hash;
  ((mark = mix(mark, static_cast<std::uint64_t>(more))), ...);
  return mark;
}

/// Calls f with the index of each set bit.
template <class F>
void for_each_bit(std::uint64_t bits, const F& f) {
  for (; bits != 0; bits &= bits - 1) f(static_cast<std::size_t>(std::countr_zero(bits)));
}

}  // namespace

void Facts::State::mark(std::uint64_t variables, std::uint64_t by) {
  for_each_bit(variables, [&](std::size_t bit) { known[bit] += by; });
}

void Facts::State::mark(OfVar& var) {
  std::uint64_t now = 0;
  if (var.bound) now = mix(now, mark_of(var.var, var.bound->min, var.bound->max));
  if (var.modular) now = mix(now, mark_of(var.var, var.modular->coeff, var.modular->base));
  const std::uint64_t bit = var.var.node().contents.variables;
  if (var.is_data) {
    now = mix(now, mark_of(var.var, var.is_data));
    data |= bit;
  }
  if (var.value) {
    now = mix(now, mark_of(var.var, var.value->node().hash));
    if (!values) values = std::make_unique<std::array<std::uint64_t, 64>>();
    for_each_bit(bit, [&](std::size_t n) { (*values)[n] |= var.value->node().contents.variables; });
  }
  mark(bit, now - var.mark);
  var.mark = now;
}

std::uint64_t Facts::State::known_of(const Expr& e) const {
  std::uint64_t variables = e.node().contents.variables;
  if (values) {
    // A variable with a value is affected by facts about the variables in this value.
    for (std::uint64_t before = 0; before != variables;) {
      before = variables;
      for_each_bit(before, [&](std::size_t bit) { variables |= (*values)[bit]; });
    }
  }
  std::uint64_t result = in_data ? 1 : 0;
  for_each_bit(variables, [&](std::size_t bit) {
    result = (std::rotl(result, 23) ^ known[bit]) * 0x9e3779b97f4a7c15u;
  });
  return result;
}

RewriteMemory* Facts::State::memory() const {
  return rewrites ? rewrites.get() : RewriteMemory::of_thread();
}

template <class Fact>
void Facts::State::add_fact(std::vector<Fact>& facts, Fact fact, std::uint64_t hash) {
  const std::uint64_t variables = fact.e.node().contents.variables;
  facts.push_back(std::move(fact));
  mark(variables, hash);
  undo.emplace_back([this, &facts, variables, hash] {
    mark(variables, -hash);
    facts.pop_back();
  });
}

template <class T>
void Facts::State::set_in_scope(const Expr& var, std::optional<T> OfVar::*member, const T& value) {
  change(var, [&](OfVar& known) {
    undo.emplace_back([this, var, member, old = known.*member] {
      change(var, [&](OfVar& restored) { restored.*member = old; });
    });
    known.*member = value;
  });
}

void Facts::State::add_numeric_facts(const Expr& condition) {
  for_each_conjunct(condition, [&](const Expr& part) {
    if (const auto fact = bound_fact(part))
      add_fact(bound_facts, *fact, mark_of(fact->e, fact->bound.min, fact->bound.max));
    if (const auto fact = modular_fact(part)) {
      const auto& [var, set] = *fact;
      const OfVar* known = find(var);
      const bool has_set = known && known->modular;
      set_in_scope(var, &OfVar::modular, has_set ? intersect(*known->modular, set) : set);
    }
  });
}

void Facts::State::add_literals(const Expr& condition) {
  for_each_conjunct(condition, [&](const Expr& part) {
    if (is_constant(part) || effect_of(part) != Effect::Pure) return;
    for (const bool holds : {true, false}) {
      const Literal added = literal(holds ? part : negated(part), holds);
      add_fact(literals, added, mark_of(added.e, added.holds));
    }
  });
}

std::optional<bool> Facts::State::decide(const Expr& e) const {
  if (literals.empty()) return std::nullopt;
  const Literal wanted = literal(e, true);
  for (const Literal& known : literals)
    if (structural_equal(known.e, wanted.e)) return known.holds == wanted.holds;
  return std::nullopt;
}

void Facts::State::undo_to(std::size_t mark_before) {
  for (; undo.size() > mark_before; undo.pop_back()) undo.back()();
}

/// Adds the bounds of the condition first and simplifies it under them. If the bounds already
/// decide the condition, no literal fact is needed.
Facts::Scope assume(const Facts& facts, const Expr& condition, bool is_settled) {
  Facts::State& state = facts.state();
  Facts::Scope scope(state);
  state.add_numeric_facts(condition);
  state.add_literals(is_settled ? condition : RewriteContext(facts).visit(condition));
  return scope;
}

Facts::Scope assume_axes(const Facts& facts, const std::vector<IterVar>& axes) {
  Facts::State& state = facts.state();
  Facts::Scope scope(state);
  for (const IterVar& axis : axes) {
    if (!axis.dom()) continue;
    const Bound first = bound_of(axis.dom()->min, state);
    const Bound last = bound_of(axis.dom()->min + axis.dom()->extent - 1, state);
    state.set_in_scope(axis.var(), &Facts::State::OfVar::bound, Bound{first.min, last.max});
  }
  return scope;
}

// ---- Facts --------------------------------------------------------------------------------------

Facts::Facts() : state_(std::make_unique<State>()) {}
Facts::Facts(Facts&&) noexcept = default;
Facts& Facts::operator=(Facts&&) noexcept = default;
Facts::~Facts() = default;

void Facts::bind(const Var& var, const Range& range, bool replace) {
  if (is_one(range.extent)) {
    bind(var, range.min, replace);
    return;
  }
  const Bound min = bound_of(range.min, *state_), extent = bound_of(range.extent, *state_);
  Bound bound;
  bound.min = min.min;
  std::int64_t last = 0;
  const bool is_finite = min.max != Bound::kPlusInfinity && extent.max != Bound::kPlusInfinity;
  if (is_finite && !__builtin_add_overflow(min.max, extent.max - 1, &last)) bound.max = last;
  if (replace) forget(var);
  state_->change(var, [&](State::OfVar& known) {
    check_rebinding(known.bound.value_or(bound) == bound && !known.value, var);
    known.bound = bound;
  });
}

void Facts::bind(const Var& var, const Expr& value, bool replace) {
  const Expr simple = rewrite_simplify(canonical_simplify(value, *this), *this);
  const Bound bound = bound_of(simple, *state_);
  const ModularSet modular = modular_set_of(simple, *state_);
  const bool is_data = wraps(simple, *state_);
  // A large value is not stored, because substituting it would duplicate it at every use.
  constexpr std::size_t kMaxInlined = 64;
  const bool is_small = node_count(simple) <= kMaxInlined;
  state_->change(var, [&](State::OfVar& known) {
    check_rebinding(replace || !known.value || structural_equal(*known.value, simple), var);
    known.bound = bound;
    known.modular = modular;
    known.value = is_small ? std::optional(simple) : std::nullopt;
    known.is_data = is_data;
  });
}

void Facts::bind_bound(const Var& var, ConstBound bound) {
  state_->change(var, [&](State::OfVar& known) { known.bound = Bound::of(bound); });
}

void Facts::forget(const Var& var) {
  if (!state_->find(var)) return;
  state_->change(var, [](State::OfVar& known) {
    known.bound.reset();
    known.modular.reset();
    known.value.reset();
    known.is_data = false;
  });
}

Facts::Scope::Scope(State& state) : state_(&state), mark_(state.undo.size()) {}
Facts::Scope::~Scope() {
  if (state_) state_->undo_to(mark_);
}

Facts::Scope Facts::assume(const Expr& condition) { return arith::assume(*this, condition); }

}  // namespace tenon::arith
