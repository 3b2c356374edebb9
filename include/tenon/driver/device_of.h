// The device that a target's programs run on.
#pragma once

#include "tenon/driver/target.h"
#include "tenon/runtime/device.h"

namespace tenon {

/// The first of the target's kind, whether or not it exists; the host for a target that is a
/// processor's.
Device first_device(const Target& target);

/// The same; throws RuntimeError that says what is missing if there is none.
Device device_of(const Target& target, SourceLocation where = SourceLocation::current());

}  // namespace tenon
