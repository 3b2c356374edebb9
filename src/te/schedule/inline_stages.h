// Putting inlined stages into their readers.
#pragma once

#include "te/schedule/schedule_data.h"

namespace tenon::te {

/// Gives every stage in `schedule.order` an operation that reads the present outputs of other
/// stages and none that is inlined, and takes the inlined stages out of the order. A stage that is
/// to be inlined but is read by something else than computes stays, at root. Takes time in
/// proportion to what it makes; ScheduleError past a budget.
void inline_stages(ScheduleData& schedule, const SourceLocation& where);

}  // namespace tenon::te
