// Constructors of the device interfaces, one file each. They load the driver. RuntimeError, naming
// what is missing, if that fails.
#pragma once

#include <memory>

#include "tenon/runtime/device_api.h"

namespace tenon::runtime {

std::unique_ptr<DeviceApi> make_cpu_api();
std::unique_ptr<DeviceApi> make_cuda_api();
std::unique_ptr<DeviceApi> make_opencl_api();

}  // namespace tenon::runtime
