// Where a condition changes in a loop: the loop is then two loops, in each of which the condition
// is a constant.
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

/// The iterations before a point, and those from there on: either may be none.
struct PartedLoop {
  tir::For before, after;
};

/// By the first comparison, among those that decide about branches and choices, that is the same
/// for all iterations on each side of one point. Bodies past a few hundred nodes stay whole. The
/// facts are of what is around the loop.
std::optional<PartedLoop> part_at_condition(const tir::For& loop, const arith::Facts& facts);

}  // namespace tenon::lowering
