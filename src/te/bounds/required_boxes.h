// What is needed of every stage, and by which readers: the question that bound inference answers,
// with names.
#pragma once

#include "tenon/te/graph.h"

namespace tenon::te {

struct RequiredDimension {
  /// The box hull of what the readers read, not rounded up to what loops make.
  Range range;
  /// The readers that read up to an end of it: one that reads up to both, or one for each.
  std::vector<StageId> decided_by;
};

using RequiredBox = std::vector<RequiredDimension>;

/// By stage, by output. Outputs of a compute are computed together, and what is read of any of them
/// is needed of all. The whole shape, decided by none, of outputs of the schedule and of what
/// nothing reads. `exact`: as infer_exact_bound.
std::vector<std::vector<RequiredBox>> required_boxes(const StageGraph& graph, bool exact);

}  // namespace tenon::te
