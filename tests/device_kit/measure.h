// Measures the library's schedules on a device, in comparison with cuBLAS and device copies.
#pragma once

#include "tests/device_kit/check.h"

namespace tenon::device_kit {

/// Writes the device's properties, its memory bandwidth and its multiply-add rate as one line of
/// JSON to `results`, and checks a vector addition. Returns the exit status: 0, 1 if the sum is
/// wrong, 3 if there is no device.
int probe(const CheckOptions& options);
/// Writes a line for each table row that is not in `results` yet. Returns the exit status.
int measure(const CheckOptions& options);

}  // namespace tenon::device_kit
