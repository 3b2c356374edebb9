// Warnings about a schedule, each returned once: those of Schedule::warnings(), and those that
// require the frozen graph and its bounds.
//
//   for (const std::string& each : untold_warnings(s, graph, bounds))
//     std::cerr << "warning: " << each << '\n';
//   untold_warnings(s)                              // empty
#pragma once

#include "tenon/te/infer_bound.h"

#pragma GCC visibility push(default)

namespace tenon::te {

/// Returns the warnings that no earlier call has returned for this schedule, with their source
/// lines.
std::vector<std::string> untold_warnings(const Schedule& schedule);
/// Also returns warnings about the frozen schedule and its bounds: stages that are computed in full
/// in every iteration because a data-dependent index selects their elements, rolling buffers
/// without a loop to roll in, and stages with excessive recomputation.
std::vector<std::string> untold_warnings(const Schedule& schedule, const StageGraph& graph,
                                         const Bounds& bounds);

}  // namespace tenon::te

#pragma GCC visibility pop
