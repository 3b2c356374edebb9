// Reads that are proved to lie outside their tensor: refused before a loop is made.
#pragma once

#include "tenon/te/infer_bound.h"

namespace tenon::te {

/// BoundError, with the line of the reading operation, for an element that is read in every run and that its
/// tensor does not have. Checked where it can be told: of stages at root, at affine indices, outside of
/// conditions, where extents are constants. What is left, `instrument_bounds` checks at run time.
void check_reads(const StageGraph& graph, const Bounds& bounds);

}  // namespace tenon::te
