// Removes statements without effects: empty loops, conditions, allocations and marks, and unused
// values.
//
//   for (i, 0, 8) { 0 }  A[0] = 1f32        becomes        A[0] = 1f32
//
// Side effects of extents and conditions are kept as statements. The body of a pragma
// "debug_skip_region" is removed.
#include "lower/passes.h"

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

bool is_empty_loop(const For& loop) {
  const std::optional<std::int64_t> extent = constant_int(loop.extent);
  return extent && *extent <= 0;
}

/// Returns the replacement of a statement, whose children have already been rewritten.
std::optional<Stmt> reduced(const Stmt& s) {
  return match(
      s.node().value,
      [&](const For& n) -> std::optional<Stmt> {
        if (is_empty_loop(n)) return make_nop();
        if (is_nop(n.body)) return effects_of({n.min, n.extent});
        return std::nullopt;
      },
      [&](const If& n) -> std::optional<Stmt> {
        if (n.else_case && !is_nop(*n.else_case)) return std::nullopt;
        if (is_nop(n.then_case)) return effects_of({n.condition});
        if (n.else_case) return make_stmt(If{n.condition, n.then_case, std::nullopt});
        return std::nullopt;
      },
      [&](const Let& n) -> std::optional<Stmt> {
        if (is_nop(n.body)) return effects_of({n.value});
        return std::nullopt;
      },
      [&](const Attr& n) -> std::optional<Stmt> {
        if (is_nop(n.body)) return effects_of({n.value});
        return std::nullopt;
      },
      [&](const Allocate& n) -> std::optional<Stmt> {
        if (is_nop(n.body)) return effects_of(n.extents);
        return std::nullopt;
      },
      [&](const Evaluate& n) -> std::optional<Stmt> {
        if (!has_effect(n.value) && !is_nop(s)) return make_nop();
        return std::nullopt;
      },
      [&](const Seq& n) -> std::optional<Stmt> {
        for (const Stmt& c : n.stmts)
          if (is_nop(c) || c.as<Seq>()) return make_seq(n.stmts);
        return std::nullopt;
      },
      // Stores, assertions and while loops are themselves effects. A while loop may not terminate.
      [&](const auto&) -> std::optional<Stmt> { return std::nullopt; });
}

}  // namespace

Stmt remove_no_ops(const Stmt& s) {
  if (const Attr* attr = s.as<Attr>(); attr && is_pragma(*attr, PragmaKey::DebugSkipRegion))
    return make_nop();
  const Stmt done = map_statements(s, [](const Stmt& c) { return remove_no_ops(c); });
  return reduced(done).value_or(done);
}

PrimFunc remove_no_ops(const PrimFunc& func, const PassOptions&) {
  return with_body(func, remove_no_ops(func.body));
}

}  // namespace tenon::lowering
