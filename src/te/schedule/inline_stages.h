// Expansion of inlined stages in their readers.
#pragma once

#include "te/schedule/schedule_data.h"

namespace tenon::te {

/// Updates the operation of every stage in `schedule.order` to read the current outputs of stages
/// that are not inlined, and removes the inlined stages from the order. An inlined stage with a
/// reader that is not a compute remains, at root. Takes time linear in its output. Throws
/// ScheduleError beyond a budget.
void inline_stages(ScheduleData& schedule, const SourceLocation& where);

}  // namespace tenon::te
