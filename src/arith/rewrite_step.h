// One step of the rewriter, shared by the two passes of `simplify`.
//
// The rewriter visits children recursively. The canonical pass handles sums, products, divisions
// and remainders itself. It passes every other node to rewrite_node, with itself as the visitor of
// children:
//
//   RewriteContext context{facts, [&](const Expr& child) { return canonical(child); }};
//   Expr result = rewrite_node(e, context);
#pragma once

#include <algorithm>
#include <functional>
#include <utility>

#include "arith/facts_state.h"
#include "arith/normal_sum.h"

namespace tenon::arith {

struct RewriteContext {
  const Facts& facts;
  /// Simplifies a child, and also the result of a rule that requests it (up to the depth
  /// kMaxRewriteDepth).
  std::function<Expr(const Expr&)> visit;
  /// Whether to replace conditions that a literal fact decides. The rewriter does so, and the
  /// canonical pass does not. A condition may match the fact only after the canonical pass. In that
  /// case the next `simplify` replaces it.
  bool uses_literals = false;
  /// The current and the maximum number of nested visits requested by rules. `deepest` is one above
  /// the limit if the limit prevented a visit.
  int depth = 0, deepest = 0;
  /// The memo table; null if no table exists.
  RewriteMemory* memory;

  RewriteContext(const Facts& facts, std::function<Expr(const Expr&)> visit)
      : facts(facts), visit(std::move(visit)), memory(facts.state().memory()) {}
  /// Makes the context of the rewriter itself: one round over the whole tree.
  explicit RewriteContext(const Facts& facts);
  RewriteContext(const RewriteContext&) = delete;
  RewriteContext& operator=(const RewriteContext&) = delete;
};

inline constexpr int kMaxRewriteDepth = 5;

/// Returns the result of `simplify` for `e`, memoized under the facts about its variables. A result
/// is not memoized if the limit prevented a visit or a proof exhausted its budget.
template <class F>
Expr visit_once(const Expr& e, RewriteContext& context, const F& simplify) {
  const Facts::State& state = context.facts.state();
  if (is_normal_sum(e, state)) return e;
  if (!context.memory || tir::is_constant(e) || e.as<tir::VarNode>()) return simplify();
  const std::uint64_t known = state.known_of(e);
  const bool is_canonical = !context.uses_literals;
  const RewriteMemory::Visit* visit = context.memory->find(e, is_canonical, known);
  if (visit && context.depth + visit->depth <= kMaxRewriteDepth) {
    context.deepest = std::max(context.deepest, context.depth + visit->depth);
    return visit->result.same_as(visit->e) ? e : visit->result;
  }
  const int deepest_before = std::exchange(context.deepest, context.depth);
  Expr result = simplify();
  const int deepest = context.deepest;
  context.deepest = std::max(deepest_before, deepest);
  if (deepest <= kMaxRewriteDepth && !state.proofs.is_cut_short())
    context.memory->add({e, result, known, is_canonical, deepest - context.depth});
  return result;
}

/// Visits the children of `e` (operands of a choice under its condition), and then applies the
/// rules at its root. Variables with values, casts, calls, lets and reductions have their own
/// rules.
Expr rewrite_node(const Expr& e, RewriteContext& context);

}  // namespace tenon::arith
