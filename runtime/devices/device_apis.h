// The kinds of device, each in a file of its own. Making one loads its driver; a RuntimeError says
// what is missing.
#pragma once

#include <memory>

#include "tenon/runtime/device_api.h"

namespace tenon::runtime {

std::unique_ptr<DeviceApi> make_cpu_api();
std::unique_ptr<DeviceApi> make_cuda_api();
std::unique_ptr<DeviceApi> make_opencl_api();

}  // namespace tenon::runtime
