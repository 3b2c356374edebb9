// Bound inference that takes no more than is touched, where known texts show more.
//
//   te::StageGraph graph = te::freeze(s);
//   lower(te::schedule_ops(graph, te::infer_exact_bound(graph), {A, B, C}))
//
// Beside infer_bound:
// - Loops that a split makes longer than what they divide read nothing beyond its end: 7 tiles of 3
//   need 20 elements of what 20 are computed from, where infer_bound keeps room for 21.
// - Padding around a tile is no longer than the tensor: 62 of 58 elements are 58.
// - A stage that is computed where one element `index(i)` of an input says what is read of it has
//   that row, where infer_bound computes all rows in every iteration.
#pragma once

#include "tenon/te/infer_bound.h"

namespace tenon::te {

Bounds infer_exact_bound(const StageGraph& graph);

}  // namespace tenon::te
