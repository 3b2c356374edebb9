// Python functions that generated code calls.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace tenon::python {

/// Throws the exception of a Python function that made a call fail with this message. Returns if
/// the failure has another cause.
void rethrow_raised(const std::string& message);

void bind_packed(nanobind::module_& m, nanobind::module_& runtime);

}  // namespace tenon::python
