// Refusals of what blocks of threads, none of which can wait for another, would compute wrong.
#pragma once

#include "te/relations/propagate.h"
#include "tenon/te/graph.h"

namespace tenon::te {

/// ScheduleError, with the line of the bind: blocks that need what others compute in the same
/// launch. Precondition: the ranges of the stage are inferred, and those of the scan that it is a
/// part of.
void check_blocks(const StageGraph& graph, StageId stage, const AxisRanges& ranges);

}  // namespace tenon::te
