// What a schedule is accepted with and yet deserves a word about, each for the user's eyes once:
// that of Schedule::warnings(), and what shows only when the whole is known.
//
//   for (const std::string& each : pending_warnings(s, graph, bounds))
//     std::cerr << "warning: " << each << '\n';
//   pending_warnings(s)                              // none any more
#pragma once

#include "tenon/te/infer_bound.h"

namespace tenon::te {

/// Those that no call has returned for this schedule before, with the lines that they are about.
std::vector<std::string> pending_warnings(const Schedule& schedule);
/// With what the frozen schedule and its bounds show: a stage that is computed whole in every
/// iteration of a loop because an index that picks its elements is data; a rolling buffer that has
/// no loop to roll in.
std::vector<std::string> pending_warnings(const Schedule& schedule, const StageGraph& graph,
                                          const Bounds& bounds);

}  // namespace tenon::te
