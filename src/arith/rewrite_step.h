// One step of the rewriter, shared by the two passes of `simplify`.
//
// The rewriter visits a tree with itself as the visitor of children; the canonical pass visits
// sums, products, divisions and remainders on its own, and gives every other node here, with itself
// as the visitor:
//
//   RewriteContext context{facts, [&](const Expr& child) { return canonical(child); }};
//   Expr result = rewrite_node(e, context);
#pragma once

#include <functional>

#include "arith/facts_state.h"

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
  /// How many rules that ask for another visit are under way.
  int depth = 0;

  RewriteContext(const Facts& facts, std::function<Expr(const Expr&)> visit)
      : facts(facts), visit(std::move(visit)) {}
  /// The rewriter itself: one round over the whole tree.
  explicit RewriteContext(const Facts& facts);
  RewriteContext(const RewriteContext&) = delete;
  RewriteContext& operator=(const RewriteContext&) = delete;
};

inline constexpr int kMaxRewriteDepth = 5;

/// What `simplify` gives for `e`, or gave before under the same facts. Within rules that ask for
/// another visit, and where proofs were cut short, less is simplified: that is not remembered.
template <class F>
Expr visit_once(const Expr& e, const RewriteContext& context, RewriteMemory::Step step,
                const F& simplify) {
  Facts::State& state = context.facts.state();
  RewriteMemory* const memory = state.rewrites.get();
  if (!memory || context.depth > 0 || tir::is_constant(e) || e.as<tir::VarNode>())
    return simplify();
  const std::uint64_t version = state.version;
  if (std::optional<Expr> known = memory->find(e, step, version)) return *std::move(known);
  Expr result = simplify();
  if (version == state.version && !state.proofs.is_cut_short())
    memory->add(e, step, version, result);
  return result;
}

/// Visits the children of `e` (branches of a choice under its condition), then applies the rules at
/// its root. A variable gets its bound value; a cast, a call, a let, a reduction their own rules.
Expr rewrite_node(const Expr& e, RewriteContext& context);

}  // namespace tenon::arith
