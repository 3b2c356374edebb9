// Schedules to look at: their loops as an outline, and as graphs for Graphviz what reads what, what
// is computed where, and how the axes of a stage come of each other.
//
//   std::cout << s.print_loops();
//   // produce C:
//   //   for i.outer in 0..32, parallel:
//   //     produce B.shared in shared:
//   //       ...
//   std::ofstream("axes.dot") << te::axes_dot(s, C);          // dot -Tsvg axes.dot > axes.svg
#pragma once

#include <string>
#include <vector>

#include "tenon/te/schedule.h"

namespace tenon::te {

/// One line per loop, those of attached stages where they run, with the ranges that bound inference
/// gives and the marks that the user set. Throws what infer_bound does for a schedule that cannot
/// be computed; so do all below.
std::string print_loops(const Schedule& schedule, SourceLocation where = SourceLocation::current());

/// Stages with their types and shapes, an arrow from each to those that read it; outputs are framed
/// twice.
std::string dataflow_dot(const Schedule& schedule,
                         SourceLocation where = SourceLocation::current());

/// Stages, an arrow from each to the stage in whose loop it is computed, named after the loop.
std::string attachment_dot(const Schedule& schedule,
                           SourceLocation where = SourceLocation::current());

/// The axes of one stage with their ranges, an arrow from each to those that a split, a fusion or a
/// transformation made of it; the loops are framed twice. ScheduleError if the stage is none of the
/// schedule's, or has been inlined.
std::string axes_dot(const Schedule& schedule, const StageKey& stage);

/// A schedule, and what it is called above its drawings.
struct NamedSchedule {
  std::string name;
  Schedule schedule;
};
/// One graph with a titled cluster for each of these drawings: per schedule what reads what, what
/// is computed where, and the axes of every stage that computes something.
std::string all_dots(const std::vector<NamedSchedule>& schedules,
                     SourceLocation where = SourceLocation::current());
std::string all_dots(const Schedule& schedule, SourceLocation where = SourceLocation::current());

}  // namespace tenon::te
