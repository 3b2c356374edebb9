// Index-set splitting: a loop in which a condition changes once becomes two loops, in each of which
// the condition is constant.
//
//   for (i, 0, 16) { B[i] = if_then_else(1 <= i && c, A[i - 1], 0) }
// becomes
//   for (i, 0, 1) { B[i] = 0 }
//   for (i, 1, 16) { B[i] = if_then_else(c, A[i - 1], 0) }
#pragma once

#include <optional>

#include "tenon/arith/facts.h"
#include "tenon/tir/walk.h"

namespace tenon::lowering {

/// The iterations before the split point and those from it on. Either loop may be empty.
struct PartedLoop {
  tir::For before, after;
};

/// Splits at the first comparison that guards a branch or a choice and changes its value at most
/// once. Returns nullopt if no comparison does, or if the body exceeds a few hundred nodes. `facts`
/// hold around the loop.
std::optional<PartedLoop> part_at_condition(const tir::For& loop, const arith::Facts& facts);

}  // namespace tenon::lowering
