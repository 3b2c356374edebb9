// Guards of a loop: the `likely` conditions in its body that depend on its variable, and the clamps
// in its indices. find_span finds the iterations in which they provably hold.
//
//   for (o, 0, 13) { for (i, 0, 8) { if likely(o*8 + i < 100) ... } }
//   find_span: o in [0, 12): there the guard holds for every i
//   for (x, 0, 64) { B[x] = A[max(x - 1, 0)] }
//   find_span: x in [1, 64): there the index is x - 1
#pragma once

#include "tenon/arith/interval.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// A half-open range of a loop variable; an absent end is that of the loop.
struct GuardSpan {
  std::optional<tir::Expr> begin;
  std::optional<tir::Expr> end;
  /// Nodes of the loop body and their replacements within the span: true for a condition, one side
  /// for a minimum or maximum, the dividend for a remainder.
  std::unordered_map<const tir::ExprNode*, tir::Expr> settled;
};

/// The kinds of guards to find in addition to `likely` conditions.
struct GuardKinds {
  /// Conditions that are not marked `likely`.
  bool every_condition = false;
  /// Clamped and wrapped indices, if most iterations do not need the clamp.
  bool clamps = false;
};

/// Returns the largest useful range found in which guards of the loop body hold; nullopt if no
/// useful range was found. The ends use only variables from outside the loop. `facts` must know the
/// enclosing loops; inner loops are added to it.
std::optional<GuardSpan> find_span(const tir::For& loop, GuardKinds kinds, arith::Facts& facts);

/// Returns the statement with the settled nodes replaced.
tir::Stmt without_settled(const tir::Stmt& s,
                          const std::unordered_map<const tir::ExprNode*, tir::Expr>& settled);

/// Returns the statement with `likely(c)` replaced by c, and without marks for partitioning.
tir::Stmt without_likely(const tir::Stmt& s);

}  // namespace tenon::lowering
