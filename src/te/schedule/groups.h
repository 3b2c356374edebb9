// Groups: stages that can be attached as one.
#pragma once

#include "te/schedule/schedule_data.h"

namespace tenon::te {

/// Makes the stages between the inputs and the outputs a group and returns its number; what was
/// computed at a loop outside of the group then is at the group's root, with a warning.
GroupNumber add_group(ScheduleData& schedule, const TensorList& outputs, const TensorList& inputs,
                      bool include_inputs, const SourceLocation& where);

}  // namespace tenon::te
