// Removes statements without effects: empty loops, conditions, allocations and marks, and unused
// values.
//
//   for (i, 0, 8) { 0 }  A[0] = 1f32        becomes        A[0] = 1f32
//
// Side effects of extents and conditions are kept as statements. The body of a pragma
// "debug_skip_region" is removed.
#include "lower/passes.h"

#include <algorithm>

#include "lower/rewriting.h"
#include "tenon/tir/pragma.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

using namespace tir;

namespace {

bool has_effect(const Expr& e) { return effect_of(e) == Effect::UpdateState; }

/// Returns the side effects of the operands as statements. They replace a statement whose body is
/// empty.
Stmt effects_of(const std::vector<Expr>& operands) {
  std::vector<Stmt> effects;
  for (const Expr& e : operands)
    if (has_effect(e)) effects.push_back(make_evaluate(e));
  return make_seq(std::move(effects));
}

/// Returns the statement without its parts that have no effect. Its children have already been
/// rewritten.
Stmt reduced(const Stmt& s) {
  return match(
      s.node().value,
      [&](const For& n) {
        if (constant_int(n.extent).value_or(1) <= 0) return make_nop();
        return is_nop(n.body) ? effects_of({n.min, n.extent}) : s;
      },
      [&](const If& n) {
        if (n.else_case && !is_nop(*n.else_case)) return s;
        if (is_nop(n.then_case)) return effects_of({n.condition});
        return n.else_case ? make_stmt(If{n.condition, n.then_case, std::nullopt}) : s;
      },
      [&](const Let& n) { return is_nop(n.body) ? effects_of({n.value}) : s; },
      [&](const Attr& n) { return is_nop(n.body) ? effects_of({n.value}) : s; },
      [&](const Allocate& n) { return is_nop(n.body) ? effects_of(n.extents) : s; },
      [&](const Evaluate& n) { return has_effect(n.value) || is_nop(s) ? s : make_nop(); },
      [&](const Seq& n) {
        const auto can_merge = [](const Stmt& c) { return is_nop(c) || c.as<Seq>(); };
        return std::ranges::any_of(n.stmts, can_merge) ? make_seq(n.stmts) : s;
      },
      // Stores, assertions and while loops are themselves effects. A while loop may not terminate.
      [&](const auto&) { return s; });
}

}  // namespace

Stmt remove_no_ops(const Stmt& s) {
  if (const Attr* attr = s.as<Attr>(); attr && is_pragma(*attr, PragmaKey::DebugSkipRegion))
    return make_nop();
  return reduced(map_statements(s, [](const Stmt& c) { return remove_no_ops(c); }));
}

PrimFunc remove_no_ops(const PrimFunc& func, const PassOptions&) {
  return with_body(func, remove_no_ops(func.body));
}

}  // namespace tenon::lowering
