// Refuses reads that are provably out of bounds.
//
//   check_reads(graph, bounds, Outside::Partly);      // A(i + 1) for i < 100, of 100 elements: BoundError
#pragma once

#include "tenon/te/infer_bound.h"

namespace tenon::te {

/// The reads to refuse: those whose elements are all out of bounds, or those with any element out
/// of bounds.
enum class Outside { Wholly, Partly };

/// Throws BoundError, naming the line of the reading operation, for an unconditional read that is
/// provably out of bounds. Analyses affine indices of stages at root. With symbolic extents,
/// `Partly` refuses reads that are out of bounds for every size at which anything is read. Other
/// reads are checked at run time by `instrument_bounds`.
void check_reads(const StageGraph& graph, const Bounds& bounds, Outside refused);

}  // namespace tenon::te
