// The bindings of tenon/driver: targets, lower and build.
#pragma once

#include "bindings/arguments.h"
#include "tenon/driver/build.h"

namespace tenon::python {

/// A target as users can give it: a Target or its text.
using TargetLike = std::variant<Target, std::string>;
/// Returns the target. Throws TargetError, with the user's line, if the text is not a target.
Target to_target(const TargetLike& target);

/// Returns the options that are given as keywords. Throws Python's TypeError, whose message begins
/// with `what`, for an unknown keyword.
BuildOptions build_options(const nb::kwargs& kwargs, const char* what);

void bind_driver(PyModule& m);

}  // namespace tenon::python
