#include "tenon/arith/wraps.h"

#include "arith/facts_state.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

bool wraps_by_walk(const Expr& e, const Facts::State& state) {
  if (wraps(e)) return true;
  return (e.node().contents.variables & state.data) != 0 && uses_var(e, [&](const Expr& var) {
           const Facts::State::OfVar* known = state.find(var);
           return known && known->is_data;
         });
}

bool wraps(const Expr& e, const Facts& facts) { return wraps(e, facts.state()); }

void bind_data(const Var& var, Facts& facts) {
  facts.state().change(var, [](Facts::State::OfVar& known) { known.is_data = true; });
}

namespace {

Expr as_data(const Expr& e) { return make_call(e.dtype(), Intrin::reinterpret, {e}); }

/// Marks operands of `e` as data in each operation that may overflow, so that the operation wraps.
/// Does nothing unless `e` is an integer that does not wrap.
Expr mark_overflow(const Expr& e, const Facts::State& state) {
  if (!e.dtype().is_int() || wraps(e, state)) return e;
  const Expr result = map_children(e, [&](const Expr& c) { return mark_overflow(c, state); });
  if (wraps(result, state)) return result;
  if (const Cast* n = e.as<Cast>()) {
    const bool fits = !may_wrap(bound_of(n->value, state), n->value.dtype(), e.dtype());
    return fits ? e : make_cast(e.dtype(), as_data(n->value));
  }
  const InData scope(state, true);
  const Binary* n = e.as<Binary>();
  if (!n || !root_may_overflow(e, state)) return e;
  if (is_constant(n->a)) return make_binary(n->op, n->a, as_data(n->b));
  return make_binary(n->op, as_data(n->a), n->b);
}

/// Like mark_overflow, but in a condition also marks the operands of its comparisons. Conditions
/// inside integer expressions are not changed.
Expr mark_compared(const Expr& e, const Facts::State& state) {
  if (!e.dtype().is_bool()) return mark_overflow(e, state);
  return map_children(e, [&](const Expr& c) { return mark_compared(c, state); });
}

/// Whether `before` wraps and `after` does not.
bool loses_data(const Expr& before, const Expr& after) {
  return !after.same_as(before) && wraps(before) && !wraps(after);
}

}  // namespace

Expr keep_wrapping(const Expr& before, const Expr& after, const Facts::State& state) {
  const bool may_lose = !after.same_as(before) && !is_constant(after) && wraps(before, state);
  return may_lose ? mark_compared(after, state) : after;
}

Expr keep_wrapping(const Expr& before, const Expr& after, const std::vector<IterVar>& axes) {
  if (!loses_data(before, after)) return after;
  const Facts facts;
  const Facts::Scope domains = assume_axes(facts, axes);
  return mark_compared(after, facts.state());
}

Expr keep_wrapping(const Expr& before, const Expr& after, const Stmt& program) {
  if (!loses_data(before, after)) return after;
  Facts facts;
  walk(
      program,
      [&](const For& n) { facts.bind(n.var, Range::from_min_extent(n.min, n.extent), true); },
      [&](const BlockRealize& n) {
        for (const IterVar& iter : n.block->iters)
          if (iter.dom()) facts.bind(iter.var(), *iter.dom(), true);
      });
  return mark_compared(after, facts.state());
}

}  // namespace tenon::arith
