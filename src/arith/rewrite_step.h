// One step of the rewriter, shared by the two passes of `simplify`.
//
// The rewriter visits a tree with itself as the visitor of children; the canonical pass visits
// sums, products, divisions and remainders on its own, and gives every other node here, with itself
// as the visitor:
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
  /// Simplifies a child, and again the result of a rule that asks for it (to the depth of
  /// kMaxRewriteDepth).
  std::function<Expr(const Expr&)> visit;
  /// Whether conditions that are literally known to hold are replaced. The canonical pass leaves
  /// that to the rewriter: a condition that it has only just put in order is found by the next
  /// `simplify`.
  bool uses_literals = false;
  /// How many rules that ask for another visit are under way, and how many were at most; one more
  /// than may be where a visit was refused.
  int depth = 0, deepest = 0;
  /// Null where nothing is remembered.
  RewriteMemory* memory;

  RewriteContext(const Facts& facts, std::function<Expr(const Expr&)> visit)
      : facts(facts), visit(std::move(visit)), memory(facts.state().memory()) {}
  /// The rewriter itself: one round over the whole tree.
  explicit RewriteContext(const Facts& facts);
  RewriteContext(const RewriteContext&) = delete;
  RewriteContext& operator=(const RewriteContext&) = delete;
};

inline constexpr int kMaxRewriteDepth = 5;

/// What `simplify` gives for `e`, or gave before when as much was known of its variables. Where a
/// visit was refused, or a proof cut short, less is simplified: that is not remembered.
template <class F>
Expr visit_once(const Expr& e, RewriteContext& context, RewriteMemory::Step step,
                const F& simplify) {
  const Facts::State& state = context.facts.state();
  if (is_normal_sum(e, state)) return e;
  if (!context.memory || tir::is_constant(e) || e.as<tir::VarNode>()) return simplify();
  const std::uint64_t known = state.known_of(e);
  const RewriteMemory::Visit* visit = context.memory->find(e, step, known);
  if (visit && context.depth + visit->depth <= kMaxRewriteDepth) {
    context.deepest = std::max(context.deepest, context.depth + visit->depth);
    return visit->result.same_as(visit->e) ? e : visit->result;
  }
  const int deepest_before = std::exchange(context.deepest, context.depth);
  Expr result = simplify();
  const int deepest = context.deepest;
  context.deepest = std::max(deepest_before, deepest);
  if (deepest <= kMaxRewriteDepth && !state.proofs.is_cut_short())
    context.memory->add({e, result, known, step, deepest - context.depth});
  return result;
}

/// Visits the children of `e` (branches of a choice under its condition), then applies the rules at
/// its root. A variable gets its bound value; a cast, a call, a let, a reduction their own rules.
Expr rewrite_node(const Expr& e, RewriteContext& context);

}  // namespace tenon::arith
