// Python functions that generated code calls.
#pragma once

#include "bindings/documentation.h"

#include <string>

namespace tenon::python {

/// Throws the exception of a Python function that made a call fail with this message. Returns if
/// the failure has another cause.
void rethrow_raised(const std::string& message);

void bind_packed(PyModule& m, PyModule& runtime);

}  // namespace tenon::python
