// Constructors of the device interfaces, one file each, and the stream that the calling thread
// uses. The constructors load the driver. RuntimeError, naming what is missing, if that fails.
#pragma once

#include <memory>

#include "tenon/runtime/device_api.h"

namespace tenon::runtime {

std::unique_ptr<DeviceApi> make_cpu_api();
std::unique_ptr<DeviceApi> make_cuda_api();
std::unique_ptr<DeviceApi> make_opencl_api();

// The stream of a device that the calling thread uses.

/// Returns the driver's handle of the stream; null for the device's default stream.
void* stream_of_this_thread(Device device);

}  // namespace tenon::runtime
