// The guards of a loop: the `likely` conditions in its body that decide by its variable, and where
// they surely hold.
//
//   for (o, 0, 13) { for (i, 0, 8) { if likely(o*8 + i < 100) ... } }
//   Guards(loop, ...).span()            // o in [0, 12): there the guard holds for every i
#pragma once

#include "tenon/arith/interval.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// A half-open range of a loop's variable; an absent end is that of the loop.
struct GuardSpan {
  std::optional<tir::Expr> begin;
  std::optional<tir::Expr> end;
  /// The conditions that hold everywhere in it, as nodes of the loop's body.
  std::unordered_set<const tir::ExprNode*> settled;
};

/// The largest range found in which guards of the loop's body hold, nullopt if there is none that
/// helps. The ends use only variables from outside the loop. `facts` knows the loops around; those
/// inside are entered into it. With `every_condition`, conditions count that are not marked
/// `likely`.
std::optional<GuardSpan> find_span(const tir::For& loop, bool every_condition, arith::Facts& facts);

/// The statement with the settled conditions taken out.
tir::Stmt without_settled(const tir::Stmt& s,
                          const std::unordered_set<const tir::ExprNode*>& settled);

/// The statement with `likely(c)` as c, and without marks for partitioning.
tir::Stmt without_likely(const tir::Stmt& s);

}  // namespace tenon::lowering
