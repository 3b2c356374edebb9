// The stream of a device that the calling thread uses.
#pragma once

#include "tenon/runtime/device_api.h"

namespace tenon::runtime {

/// Returns the stream; null for the device's default stream.
DeviceStream* stream_of_this_thread(Device device);

}  // namespace tenon::runtime
