// Checks for schedules that are incorrect because blocks of threads cannot wait for one another.
#pragma once

#include "te/relations/propagate.h"
#include "tenon/te/graph.h"

namespace tenon::te {

/// ScheduleError, with the line of the bind, for blocks that need elements computed by other blocks
/// of the same launch. Precondition: the ranges of the stage, and of the scan that it is a part of,
/// are inferred.
void check_blocks(const StageGraph& graph, StageId stage, const AxisRanges& ranges);

}  // namespace tenon::te
