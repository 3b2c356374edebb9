// Bound inference that covers only the elements touched. infer_bound may cover more, as TVM 0.9
// does.
//
//   te::StageGraph graph = te::freeze(s);
//   lower(te::schedule_ops(graph, te::infer_exact_bound(graph), {A, B, C}))
//
// Differences from infer_bound:
// - The part of a split's loops that overshoots the divided axis reads nothing. For 20 elements in
//   7 tiles of 3, a producer needs 20 elements; infer_bound reserves 21.
// - A padded tile is not larger than the tensor: 62 of 58 elements become 58.
// - A stage that is computed where an element `index(i)` of an input selects the row to read
//   computes that row. infer_bound computes all rows in every iteration.
#pragma once

#include "tenon/te/infer_bound.h"

namespace tenon::te {

Bounds infer_exact_bound(const StageGraph& graph);

}  // namespace tenon::te
