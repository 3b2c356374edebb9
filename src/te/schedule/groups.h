// Groups: stages that are attached together.
#pragma once

#include "te/schedule/schedule_data.h"

namespace tenon::te {

/// Makes a group of the stages between the inputs and the outputs, and returns its number. Stages
/// attached outside the group move to the group's root, with a warning.
GroupNumber add_group(ScheduleData& schedule, const TensorList& outputs, const TensorList& inputs,
                      bool include_inputs, const SourceLocation& where);

}  // namespace tenon::te
