// Normalization at the end of editing: inlining, loops that start at 0, and attach points that are
// loops.
#pragma once

#include "te/schedule/schedule_data.h"

namespace tenon::te {

/// Inlines, rebases and settles attachments in place.
void normalize(ScheduleData& data, const SourceLocation& where);

}  // namespace tenon::te
