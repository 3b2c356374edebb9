// Device schedules with a host target, which can be printed but not built.
#pragma once

#include "tenon/te/graph.h"

namespace tenon {

/// Whether any loop is bound to blocks or threads of a device.
bool runs_on_device(const te::StageGraph& graph);

/// Throws a TargetError with stage, axis and line for such a loop.
void refuse_device_threads(const te::StageGraph& graph);

}  // namespace tenon
