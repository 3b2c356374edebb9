#include <algorithm>

#include "arith/facts_state.h"
#include "tenon/arith/simplify.h"
#include "tenon/arith/wraps.h"
#include "tenon/tir/compare.h"
#include "tenon/tir/stmt.h"
#include "tenon/tir/walk.h"

namespace tenon::arith {

using namespace tir;

namespace {

bool are_equal(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Expr& x, const Expr& y) { return structural_equal(x, y); });
}

/// Whether both buffers map equal indices to the same elements.
bool is_same_view(const Buffer& a, const Buffer& b) {
  if (a.same_as(b)) return true;
  return a->data.same_as(b->data) && a->dtype == b->dtype &&
         structural_equal(a->elem_offset, b->elem_offset) && are_equal(a->shape, b->shape) &&
         are_equal(a->strides, b->strides);
}

/// Whether the store is B[i] = B[i].
bool is_without_effect(const Store& store) {
  const Load* load = store.value.as<Load>();
  return load && is_same_view(load->buffer, store.buffer) &&
         are_equal(load->indices, store.indices);
}

/// Whether the value may be substituted for its variable: integers without side effects qualify,
/// since sums with them become simpler. Other values remain shared.
bool may_inline(const Expr& value) {
  if (is_constant(value) || value.as<VarNode>()) return true;
  return value.dtype().is_int() && effect_of(value) == Effect::Pure;
}

class StmtSimplifier {
 public:
  explicit StmtSimplifier(Facts& facts) : facts_(facts) {
    if (!facts.state().memory())
      facts.state().rewrites = std::make_unique<RewriteMemory>(RewriteMemory::kFew);
  }

  Stmt operator()(const Stmt& s) {
    if (const For* n = s.as<For>()) return loop(s, *n);
    if (const If* n = s.as<If>()) return branch(s, *n);
    if (const Let* n = s.as<Let>()) return let(s, *n);
    if (const Attr* n = s.as<Attr>()) return attribute(s, *n);
    if (const Assert* n = s.as<Assert>()) return assertion(s, *n);
    Stmt result = children(s);
    const Store* store = result.as<Store>();
    return store && is_without_effect(*store) ? make_nop() : result;
  }

 private:
  Expr simple(const Expr& e) const { return simplify(e, facts_); }

  Stmt children(const Stmt& s) {
    return map_children(
        s, [this](const Expr& e) { return simple(e); },
        [this](const Stmt& c) { return (*this)(c); });
  }

  /// Simplifies a loop. The range gives constant bounds. It is also entered as a literal fact, for
  /// guards that repeat it symbolically.
  Stmt loop(const Stmt& s, const For& n) {
    facts_.bind(n.var, Range::from_min_extent(n.min, n.extent), true);
    // A constant range needs no literal fact, because its bounds suffice.
    if (constant_int(n.min) && constant_int(n.extent)) return children(s);
    const auto lower = facts_.assume(n.var >= n.min);
    const auto upper = facts_.assume(n.var < n.min + n.extent);
    return children(s);
  }

  Stmt branch(const Stmt& s, const If& n) {
    const Expr condition = simple(n.condition);
    const Call* hint = as_call(condition, Intrin::likely);
    const Expr fact = hint ? hint->args[0] : condition;
    if (is_true(fact)) return (*this)(n.then_case);
    if (is_false(fact)) return n.else_case ? (*this)(*n.else_case) : make_nop();
    const Stmt then_case = under(fact, n.then_case);
    std::optional<Stmt> else_case;
    if (n.else_case) else_case = under(rewrite_simplify(!fact, facts_), *n.else_case);
    const bool is_same_else = !else_case || else_case->same_as(*n.else_case);
    if (condition.same_as(n.condition) && then_case.same_as(n.then_case) && is_same_else) return s;
    return make_stmt(If{condition, then_case, else_case});
  }

  Stmt under(const Expr& fact, const Stmt& s) {
    const auto scope = facts_.assume(fact);
    return (*this)(s);
  }

  Stmt let(const Stmt& s, const Let& n) {
    const Expr value = simple(n.value);
    facts_.forget(n.var);
    if (may_inline(value)) {
      facts_.bind(n.var, value, true);
      const bool is_substituted = facts_.state().find(n.var)->value.has_value();
      if (is_substituted) return (*this)(n.body);
    } else if (value.dtype().is_integral()) {
      facts_.bind_bound(n.var, const_bound(value, facts_));
      if (wraps(value, facts_.state())) bind_data(n.var, facts_);
    }
    const Stmt body = (*this)(n.body);
    return value.same_as(n.value) && body.same_as(n.body) ? s : make_stmt(Let{n.var, value, body});
  }

  /// Simplifies a thread attribute. Only the constant extent of a launch is a fact: a guard
  /// `threadIdx.x < n` is kept.
  Stmt attribute(const Stmt& s, const Attr& n) {
    const IterVar* axis = std::get_if<IterVar>(&n.subject);
    if (axis && (n.kind == AttrKind::ThreadExtent || n.kind == AttrKind::VirtualThread))
      facts_.bind(axis->var(), Range::from_extent(n.value), true);
    return children(s);
  }

  Stmt assertion(const Stmt& s, const Assert& n) {
    const Expr condition = simple(n.condition);
    const Stmt body = under(condition, n.body);
    if (condition.same_as(n.condition) && body.same_as(n.body)) return s;
    return make_stmt(Assert{condition, n.message, body});
  }

  Facts& facts_;
};

}  // namespace

Stmt simplify_stmt(const Stmt& s, Facts& facts) { return StmtSimplifier(facts)(s); }

}  // namespace tenon::arith
