// The binding of tenon/driver: targets, lower, build.
#pragma once

#include "bindings/arguments.h"
#include "tenon/driver/build.h"

namespace tenon::python {

/// A target as users write it.
using TargetLike = std::variant<Target, std::string>;
/// Parses the text of a target. TargetError, with the user's line, for an unknown one.
Target to_target(const TargetLike& target);

/// Returns the options given as keywords. Python TypeError, with `what`, for unknown ones.
BuildOptions build_options(const nb::kwargs& kwargs, const char* what);

void bind_driver(PyModule& m);

}  // namespace tenon::python
