// Planning of rolling buffers, with the proof that rolling is legal.
#pragma once

#include <optional>
#include <vector>

#include "tenon/arith/facts.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// A dimension whose region moves along a loop.
struct Slide {
  tir::For loop;
  /// The start of the region in the current iteration.
  tir::Expr begin;
  /// The boundary, relative to `begin`, between old and new elements. Elements before it are
  /// old, that is, computed by the previous iteration. If the region moves backwards, they are new.
  tir::Expr overlap;
  bool is_backwards = false;
};

struct RollingPlan {
  /// The loop that the allocation moves around, as an index of the given list.
  std::size_t loop;
  /// One entry per dimension; nullopt if the region does not move.
  std::vector<std::optional<Slide>> slides;
  /// The dimension that becomes a ring buffer, and the size of the ring.
  int ring;
  tir::Expr ring_size;
  /// The elements that are kept; [0, ring_size) for the ring dimension.
  std::vector<tir::Range> bounds;
};

/// `loops`: the loops around the realize, outermost first. Only sequences and allocations are
/// between them.
std::optional<RollingPlan> plan_rolling(const tir::Realize& realize,
                                        const std::vector<tir::For>& loops,
                                        const arith::Facts& facts);

}  // namespace tenon::lowering
