// The Python exceptions for tenon::Error and its subclasses.
#pragma once

#include "bindings/documentation.h"

#include <exception>

namespace tenon::python {

/// Adds the exceptions `Error`, `TypeError`, `ScheduleError`, ... to the module. From then on, C++
/// errors are translated to them.
void bind_errors(PyModule& m);

/// Returns the Python class tenon.ScheduleError.
nanobind::handle schedule_error_class();

/// Raises a C++ exception as a Python error. Only needed outside of functions that nanobind calls.
void set_python_error(const std::exception_ptr& error) noexcept;

}  // namespace tenon::python
