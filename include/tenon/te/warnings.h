// Warnings about a schedule, each returned once: the warnings of Schedule::warnings(), and warnings
// that require the frozen graph and its bounds.
//
//   for (const std::string& each : pending_warnings(s, graph, bounds))
//     std::cerr << "warning: " << each << '\n';
//   pending_warnings(s)                              // empty
#pragma once

#include "tenon/te/infer_bound.h"

namespace tenon::te {

/// Returns the warnings that no earlier call has returned for this schedule. Each warning includes
/// its source line.
std::vector<std::string> pending_warnings(const Schedule& schedule);
/// Also returns warnings about the frozen schedule and its bounds. They report
/// - stages whose elements are computed several times, or computed but not read,
/// - stages that are computed in full in every iteration because an index of their reader is data,
/// - rolling_buffer of a stage at root, where it has no effect.
std::vector<std::string> pending_warnings(const Schedule& schedule, const StageGraph& graph,
                                          const Bounds& bounds);

}  // namespace tenon::te
