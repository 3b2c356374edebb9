// What a primitive accepts and yet deserves a word.
#pragma once

#include "te/schedule/schedule_data.h"

namespace tenon::te {

/// Keeps a warning with its line, unless it is there already.
void warn_once(ScheduleData& schedule, const std::string& text, const SourceLocation& where);
/// Warns of what was said of loops that the primitive has taken away; `before` are the loops that
/// there were.
void warn_of_lost_marks(ScheduleData& schedule, std::string_view primitive, const StageData& stage,
                        std::span<const IterVar> before, const SourceLocation& where);

}  // namespace tenon::te
