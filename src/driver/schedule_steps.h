// The steps from a schedule to its loop program, each made once, for lower and for build, which
// checks more between them.
#pragma once

#include "tenon/driver/lower.h"
#include "tenon/te/graph.h"

namespace tenon {

te::StageGraph freeze_schedule(const te::Schedule& schedule, const StepListener& on_step,
                               const SourceLocation& where);
te::Bounds bounds_of(const te::StageGraph& graph, Bounds which, const StepListener& on_step);
/// Says on the standard error what the schedule deserves a word about and nobody has been told of.
void tell_warnings(const te::Schedule& schedule, const te::StageGraph& graph,
                   const te::Bounds& bounds);
tir::PrimFunc loops_of(const te::StageGraph& graph, const te::Bounds& bounds,
                       const std::vector<LowerArgument>& args, const LowerOptions& options,
                       const SourceLocation& where);
/// The loops lowered, unless an access is proved to be outside.
tir::IRModule lower_loops(tir::PrimFunc loops, const LowerOptions& options);

}  // namespace tenon
