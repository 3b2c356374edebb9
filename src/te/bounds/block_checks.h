// Checks that reject schedules in which a block of threads depends on another block.
#pragma once

#include "te/relations/propagate.h"
#include "tenon/te/graph.h"

namespace tenon::te {

/// Throws ScheduleError, with the line of the bind, if a block needs elements that another block of
/// the same launch computes. Precondition: the ranges of the stage, and of the scan that contains
/// it, are inferred.
void check_blocks(const StageGraph& graph, StageId stage, const AxisRanges& ranges);

}  // namespace tenon::te
