// Freezing: the transition from an editable schedule to the immutable graph of its stages.
//
//   te::StageGraph graph = te::freeze(schedule);
//
// freeze inlines stages into their readers, rebases the loops of root axes to start at 0, and moves
// attachments from axes that were split or fused to the resulting loops. It throws ScheduleError
// for a schedule that cannot be computed, such as an inlined output or reduction, or a stage
// attached where its consumers cannot see it.
#pragma once

#include "tenon/te/graph.h"

namespace tenon::te {

StageGraph freeze(const Schedule& schedule, SourceLocation where = SourceLocation::current());

}  // namespace tenon::te
