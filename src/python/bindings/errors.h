// The Python exceptions of tenon::Error and its subclasses.
#pragma once

#include "bindings/documentation.h"

#include <exception>

namespace tenon::python {

/// Adds `Error`, `TypeError`, `ScheduleError`, ... to the module and translates C++ errors to them.
void bind_errors(PyModule& m);

/// Returns the class tenon.ScheduleError.
nanobind::handle schedule_error_class();

/// Sets the Python error for any exception. For use outside of functions that nanobind calls.
void set_python_error(const std::exception_ptr& error) noexcept;

}  // namespace tenon::python
