// Widening of scalar loop bodies (scalar_loop.h): several iterations become the lanes of vectors.
#pragma once

#include "lower/cpu/scalar_loop.h"

namespace tenon::lowering {

/// An accumulation, and local memory with one element per lane.
struct LaneAccumulator {
  Accumulation target;
  tir::Buffer memory;
};

/// Returns iterations first, ..., first + lanes - 1 of the loop as lanes. Variables that the body
/// defines are renewed.
tir::Stmt as_lanes(const tir::For& loop, const tir::Expr& first, int lanes,
                   const std::vector<LaneAccumulator>& accumulators);

}  // namespace tenon::lowering
