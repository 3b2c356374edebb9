// One step of the rewriter, shared by the two passes of `simplify`.
//
// The rewriter visits a tree with itself as the visitor of children; the canonical pass visits sums, products, divisions
// and remainders on its own, and gives every other node here, with itself as the visitor:
//
//   RewriteContext context{facts, [&](const Expr& child) { return canonical(child); }};
//   Expr result = rewrite_node(e, context);
#pragma once

#include <functional>

#include "tenon/arith/facts.h"

namespace tenon::arith {

struct RewriteContext {
  const Facts& facts;
  /// Simplifies a child, and again the result of a rule that asks for it (to the depth of kMaxRewriteDepth).
  std::function<Expr(const Expr&)> visit;
  /// How many rules that ask for another visit are under way.
  int depth = 0;
};

inline constexpr int kMaxRewriteDepth = 5;

/// Visits the children of `e` (branches of a choice under its condition), then applies the rules at its root.
/// A variable gets its bound value; a cast, a call, a let, a reduction their own rules.
Expr rewrite_node(const Expr& e, RewriteContext& context);

}  // namespace tenon::arith
