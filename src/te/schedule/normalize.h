// Normalization at the end of editing. Inlines stages, makes loops start at 0, and resolves attach
// points to loops.
#pragma once

#include "te/schedule/schedule_data.h"

namespace tenon::te {

/// Inlines, rebases and resolves attachments in place.
void normalize(ScheduleData& data, const SourceLocation& where);

}  // namespace tenon::te
