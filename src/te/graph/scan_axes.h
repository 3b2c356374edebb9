// The dependence of a scan's steps on one another, for computing only a part of the space.
//
//   update[t, i] = state[t - 1, i] + x[t, i]           // i is fixed: a part depends only on the same part
//   update[t, i] = state[t - 1, i - 1] + x[t, i]       // i is not: every step requires one more element
#pragma once

#include "tenon/te/graph.h"

namespace tenon::te {

/// Returns the stages of one step, ascending: the updates, and the stages that depend on the state
/// and that an update depends on.
std::vector<StageId> stages_of_step(const StageGraph& graph, StageId scan);

/// Returns the spatial axes of the scan along which every element depends only on elements of the
/// state with the same coordinate. They are a fixed point: every step requires the same range. Only
/// indices that are plain axes are recognized; any other index is assumed to read everything.
std::vector<IterVar> fixed_axes(const StageGraph& graph, StageId scan);

}  // namespace tenon::te
