// The binding of tenon/driver: targets, lower, build.
#pragma once

#include "bindings/arguments.h"
#include "tenon/driver/build.h"

namespace tenon::python {

/// A target as users write it.
using TargetLike = std::variant<Target, std::string>;
/// Parses the text of a target. TargetError, with the user's line, for an unknown one.
Target to_target(const TargetLike& target);

void bind_driver(nb::module_& m);

}  // namespace tenon::python
