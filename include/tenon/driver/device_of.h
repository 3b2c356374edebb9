// The device that executes the programs of a target.
#pragma once

#include "tenon/driver/target.h"
#include "tenon/runtime/device.h"

namespace tenon {

/// Returns the first device of the target's kind, whether or not it exists; the host for CPU
/// targets.
Device first_device(const Target& target);

/// Returns the first device of the target's kind. RuntimeError, naming what is missing, if no
/// device exists.
Device device_of(const Target& target, SourceLocation where = SourceLocation::current());

}  // namespace tenon
