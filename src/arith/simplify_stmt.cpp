#include "arith/facts_state.h"
#include "tenon/arith/dependence.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

/// Whether the store is B[i] = B[i].
bool is_without_effect(const Store& store) {
  const Load* load = store.value.as<Load>();
  return load && same_layout(load->buffer, store.buffer) &&
         structural_equal(load->indices, store.indices);
}

/// Whether the value may be substituted for its variable: integers without side effects qualify,
/// since sums with them become simpler. Other values remain shared.
bool may_inline(const Expr& value) {
  if (is_constant(value) || value.as<VarNode>()) return true;
  return value.dtype().is_int() && effect_of(value) == Effect::Pure;
}

Stmt simplify_children(const Stmt& s, Facts& facts) {
  return map_children(
      s, [&](const Expr& e) { return simplify(e, facts); },
      [&](const Stmt& c) { return simplify_stmt(c, facts); });
}

Stmt simplify_under(const Expr& fact, const Stmt& s, Facts& facts) {
  const auto scope = facts.assume(fact);
  return simplify_stmt(s, facts);
}

/// Simplifies a loop. The range gives constant bounds. It is also entered as a literal fact, for
/// guards that repeat it symbolically.
Stmt simplify_loop(const Stmt& s, const For& n, Facts& facts) {
  facts.bind(n.var, Range::from_min_extent(n.min, n.extent), true);
  // A constant range needs no literal fact, because its bounds suffice.
  if (constant_int(n.min) && constant_int(n.extent)) return simplify_children(s, facts);
  const auto lower = facts.assume(n.var >= n.min);
  const auto upper = facts.assume(n.var < n.min + n.extent);
  return simplify_children(s, facts);
}

Stmt simplify_branch(const Stmt& s, const If& n, Facts& facts) {
  const Expr condition = simplify(n.condition, facts);
  const Call* hint = as_call(condition, Intrin::likely);
  const Expr fact = hint ? hint->args[0] : condition;
  if (is_true(fact)) return simplify_stmt(n.then_case, facts);
  if (is_false(fact)) return n.else_case ? simplify_stmt(*n.else_case, facts) : make_nop();
  const Stmt then_case = simplify_under(fact, n.then_case, facts);
  std::optional<Stmt> else_case;
  if (n.else_case) else_case = simplify_under(rewrite_simplify(!fact, facts), *n.else_case, facts);
  const bool is_same_else = !else_case || else_case->same_as(*n.else_case);
  if (condition.same_as(n.condition) && then_case.same_as(n.then_case) && is_same_else) return s;
  return make_stmt(If{condition, then_case, else_case});
}

Stmt simplify_let(const Stmt& s, const Let& n, Facts& facts) {
  const Expr value = simplify(n.value, facts);
  facts.forget(n.var);
  if (may_inline(value)) {
    facts.bind(n.var, value, true);
    const bool is_substituted = facts.state().find(n.var)->value.has_value();
    if (is_substituted) return simplify_stmt(n.body, facts);
  } else if (value.dtype().is_integral()) {
    facts.bind_bound(n.var, const_bound(value, facts));
    if (wraps(value, facts.state())) bind_data(n.var, facts);
  }
  const Stmt body = simplify_stmt(n.body, facts);
  return value.same_as(n.value) && body.same_as(n.body) ? s : make_stmt(Let{n.var, value, body});
}

/// Simplifies a thread attribute. Only the constant extent of a launch is a fact: a guard
/// `threadIdx.x < n` is kept.
Stmt simplify_attribute(const Stmt& s, const Attr& n, Facts& facts) {
  const IterVar* axis = std::get_if<IterVar>(&n.subject);
  if (axis && (n.kind == AttrKind::ThreadExtent || n.kind == AttrKind::VirtualThread))
    facts.bind(axis->var(), Range::from_extent(n.value), true);
  return simplify_children(s, facts);
}

Stmt simplify_assertion(const Stmt& s, const Assert& n, Facts& facts) {
  const Expr condition = simplify(n.condition, facts);
  const Stmt body = simplify_under(condition, n.body, facts);
  if (condition.same_as(n.condition) && body.same_as(n.body)) return s;
  return make_stmt(Assert{condition, n.message, body});
}

}  // namespace

Stmt simplify_stmt(const Stmt& s, Facts& facts) {
  if (!facts.state().memory())
    facts.state().rewrites = std::make_unique<RewriteMemory>(RewriteMemory::kFew);
  if (const For* n = s.as<For>()) return simplify_loop(s, *n, facts);
  if (const If* n = s.as<If>()) return simplify_branch(s, *n, facts);
  if (const Let* n = s.as<Let>()) return simplify_let(s, *n, facts);
  if (const Attr* n = s.as<Attr>()) return simplify_attribute(s, *n, facts);
  if (const Assert* n = s.as<Assert>()) return simplify_assertion(s, *n, facts);
  Stmt result = simplify_children(s, facts);
  const Store* store = result.as<Store>();
  return store && is_without_effect(*store) ? make_nop() : result;
}

}  // namespace tenon::arith
