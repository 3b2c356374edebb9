// The tables: how fast the library's schedules are on a device, beside cuBLAS and beside copies.
#pragma once

#include "tests/device_kit/check.h"

namespace tenon::device_kit {

/// Says which device there is, what its memory and its multiply-adds do, and adds two vectors, as
/// one line of JSON in `results`. The exit status: 0, 1 where the sum is wrong, 3 without a device.
int probe(const CheckOptions& options);
/// A line for each row; rows that `results` has are left out. The exit status as of probe.
int measure(const CheckOptions& options);

}  // namespace tenon::device_kit
