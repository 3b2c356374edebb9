// Schedules for devices, on a host: printed, but not built.
#pragma once

#include "tenon/te/graph.h"

namespace tenon {

/// Whether a loop is one over blocks or threads of a device.
bool runs_on_device(const te::StageGraph& graph);

/// Throws TargetError with stage, axis and line for such a loop.
void refuse_device_threads(const te::StageGraph& graph);

}  // namespace tenon
