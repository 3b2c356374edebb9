// Reads that are proved to lie outside their tensor: refused before anything runs.
//
//   check_reads(graph, bounds, Outside::Partly);      // A(i + 1) for i < 100, of 100 elements: BoundError
#pragma once

#include "tenon/te/infer_bound.h"

namespace tenon::te {

/// Which reads are refused: those of which no element is in the tensor, or those of which some
/// element is not.
enum class Outside { Wholly, Partly };

/// BoundError, with the line of the reading operation, for elements that are read in every run and
/// that their tensor does not have. Checked where it can be told: of stages at root, at affine
/// indices, outside of conditions; where extents are symbolic, `Partly` refuses what is outside for
/// all sizes but those of which nothing is read. What is left, `instrument_bounds` checks at run
/// time.
void check_reads(const StageGraph& graph, const Bounds& bounds, Outside refused);

}  // namespace tenon::te
