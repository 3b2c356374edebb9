// The binding of tenon/s_tir: block programs, their schedules and traces.
#pragma once

#include "bindings/te.h"
#include "tenon/s_tir/schedule.h"

namespace tenon::python {

/// Copies of a block schedule in C++ share their state until one of them changes. Python objects
/// refer to one schedule.
void bind_s_tir(PyModule& s_tir);

}  // namespace tenon::python
