// Functions with threads on a device, where there is one.
//
//   if (const auto function = built_for(opencl(0), s, {A, B}))
//     run_on_device(*function, arguments, opencl(0));
#pragma once

#include "tests/common/arguments.h"

namespace tenon::testing {

/// Whether a loop of the function runs on threads of a device.
bool has_threads(const tir::PrimFunc& func);

/// Nullopt where there is no such device, the schedule binds no loop to its threads or leaves a
/// stage to the host, which devices cannot do.
std::optional<runtime::Function> built_for(Device device, const te::Schedule& schedule,
                                           const std::vector<LowerArgument>& args,
                                           const BuildOptions& options = {});

/// "" if NVRTC takes the kernels for sm_80 and for sm_90, is not here, or the schedule has nothing
/// for a device; else what it says.
std::string refused_by_nvrtc(const te::Schedule& schedule, const std::vector<LowerArgument>& args);

/// Copies the arrays to the device, runs the function, and copies them back, each with the guard
/// behind it.
void run_on_device(const runtime::Function& function, const Arguments& arguments, Device device);

}  // namespace tenon::testing
