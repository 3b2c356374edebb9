// What a step of a scan reads of the steps before it: needed to compute only a part of the space.
//
//   update[t, i] = state[t - 1, i] + x[t, i]           // i is fixed: a part of it needs that part alone
//   update[t, i] = state[t - 1, i - 1] + x[t, i]       // i is not: every step needs one more
#pragma once

#include "tenon/te/graph.h"

namespace tenon::te {

/// The stages that make one step: those that depend on the state and that an update depends on, and
/// the updates; ascending.
std::vector<StageId> stages_of_step(const StageGraph& graph, StageId scan);

/// The spatial axes of the scan along which every element depends only on elements of its own
/// coordinate in the state of the axis, so that they are a fixed point: what is needed of them is
/// needed at every step, and no more. Derived from indices that are axes by themselves; any other
/// index counts as reading everything.
std::vector<IterVar> fixed_axes(const StageGraph& graph, StageId scan);

}  // namespace tenon::te
