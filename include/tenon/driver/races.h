// Checks for schedules whose iterations race for a result. Such schedules can be printed but not
// built.
#pragma once

#include "tenon/te/graph.h"

namespace tenon {

/// Throws a ScheduleError with stage, axis, line and remedy for a reduction that runs in parallel
/// or over blocks, and for a thread axis that is bound to two loops of one stage.
void refuse_races(const te::StageGraph& graph);

}  // namespace tenon
