// Graphviz graphs of schedules: the data flow, the attachments, and the relations between the axes
// of a stage. Every function throws the errors of infer_bound.
//
//   std::ofstream("axes.dot") << te::axes_dot(s, C);          // dot -Tsvg axes.dot > axes.svg
#pragma once

#include <string>
#include <vector>

#include "tenon/te/schedule.h"

namespace tenon::te {

/// Returns a graph of the stages with their types and shapes. Edges lead from producers to
/// consumers; outputs have a double frame.
std::string dataflow_dot(const Schedule& schedule,
                         SourceLocation where = SourceLocation::current());

/// Returns a graph of the stages. An edge leads from a stage to the stage that it is attached to
/// and is labelled with the loop.
std::string attachment_dot(const Schedule& schedule,
                           SourceLocation where = SourceLocation::current());

/// Returns a graph of the axes of one stage with their ranges. Edges lead from the parents to the
/// children of a split, fusion or transformation; loops have a double frame. ScheduleError if the
/// stage does not belong to the schedule or has been inlined.
std::string axes_dot(const Schedule& schedule, const StageKey& stage);

/// A schedule and its title.
struct NamedSchedule {
  std::string name;
  Schedule schedule;
};
/// Returns one graph with all drawings as titled clusters: per schedule the data flow, the
/// attachments, and the axes of each stage that is computed.
std::string all_dots(const std::vector<NamedSchedule>& schedules,
                     SourceLocation where = SourceLocation::current());
std::string all_dots(const Schedule& schedule, SourceLocation where = SourceLocation::current());

}  // namespace tenon::te
