// Calls of functions that are compiled for a device, with arguments in host memory.
//
//   const Device device = device_of(Target("opencl"));            // opencl(0)
//   const std::vector<CallArgument> there = copied_to(device, call);
//   module["main"].call(as_call(there));
//   copy_back(there, call);
#pragma once

#include "tenon/driver/arguments.h"
#include "tenon/driver/target.h"

namespace tenon {

/// Returns the same arguments, with the arrays copied to the device.
std::vector<CallArgument> copied_to(Device device, const std::vector<CallArgument>& call);
/// Copies each array on the device back to the host array that it was copied from.
void copy_back(const std::vector<CallArgument>& there, const std::vector<CallArgument>& call);

}  // namespace tenon
