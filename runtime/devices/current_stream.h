// The stream in which the calling thread starts what it starts on a device.
#pragma once

#include "tenon/runtime/device_api.h"

namespace tenon::runtime {

/// Null: the device's own.
DeviceStream* stream_of_this_thread(Device device);

}  // namespace tenon::runtime
