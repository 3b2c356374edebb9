// The requirements on every stage and the readers that determine them, for reports.
#pragma once

#include "tenon/te/graph.h"

namespace tenon::te {

struct RequiredDimension {
  /// The hull of the reads, not rounded up to the extents of loops.
  Range range;
  /// The readers that reach an end of the hull: one that reaches both, or one for each end.
  std::vector<StageId> decided_by;
};

using RequiredBox = std::vector<RequiredDimension>;

/// Returns the requirements by stage and output. Outputs of a compute are computed together, so
/// that reads of one count for all. Outputs of the schedule, and tensors without readers, are
/// required in full, determined by no reader. `exact`: uses the bounds of infer_exact_bound.
std::vector<std::vector<RequiredBox>> required_boxes(const StageGraph& graph, bool exact);

}  // namespace tenon::te
