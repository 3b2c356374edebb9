// Schedules for devices, on a host: printed, but not built.
#pragma once

#include "tenon/te/graph.h"

namespace tenon {

/// Throws TargetError with stage, axis and line for an axis that is bound to blocks or threads of a device.
void refuse_device_threads(const te::StageGraph& graph);

}  // namespace tenon
