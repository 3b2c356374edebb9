// The dependence of a scan's steps on one another. It decides along which axes a part of the space
// suffices.
//
//   update[t, i] = state[t - 1, i] + x[t, i]       // i is fixed: a part depends on the same part
//   update[t, i] = state[t - 1, i - 1] + x[t, i]   // i is not: a step requires one more element
#pragma once

#include "tenon/te/graph.h"

namespace tenon::te {

/// Returns the stages of one step, ascending: the updates, and every stage that depends on the
/// state and is required by an update.
std::vector<StageId> stages_of_step(const StageGraph& graph, StageId scan);

/// Returns the spatial axes of the scan along which every element depends only on elements of the
/// state with the same coordinate. They are a fixed point: every step requires the same range. Only
/// indices that are plain axes are recognized; any other index is assumed to require everything.
std::vector<IterVar> fixed_axes(const StageGraph& graph, StageId scan);

}  // namespace tenon::te
