// The end of editing: from a schedule to the graph of its stages.
//
//   te::StageGraph graph = te::freeze(schedule);
//
// Freezing puts inlined stages into their readers, rebases every root axis that is a loop to 0, and
// moves attachments to axes that have since been split or fused onto the loops that came of them.
// It throws ScheduleError for a schedule that cannot be computed: an inlined output or reduction, a
// stage attached where its consumers cannot see it.
#pragma once

#include "tenon/te/graph.h"

namespace tenon::te {

StageGraph freeze(const Schedule& schedule, SourceLocation where = SourceLocation::current());

}  // namespace tenon::te
