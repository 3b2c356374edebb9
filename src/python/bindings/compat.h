// Properties of stages, operations and functions that only tenon.compat.tvm asks for.
#pragma once

#include <nanobind/nanobind.h>

namespace tenon::python {

void bind_compat(nanobind::module_& m);

}  // namespace tenon::python
