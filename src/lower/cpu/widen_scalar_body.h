// The body of a plain loop (scalar_loop.h) for several iterations at once.
#pragma once

#include "lower/cpu/scalar_loop.h"

namespace tenon::lowering {

/// An accumulation, and the local memory that has an element for every lane.
struct LaneAccumulator {
  Accumulation target;
  tir::Buffer memory;
};

/// The iterations first, ..., first + lanes - 1 of a loop as lanes. The statement's own variables
/// are defined anew.
tir::Stmt as_lanes(const tir::For& loop, const tir::Expr& first, int lanes,
                   const std::vector<LaneAccumulator>& accumulators);

}  // namespace tenon::lowering
