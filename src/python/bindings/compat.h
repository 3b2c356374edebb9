// Properties of stages, operations and functions that only tenon.compat.tvm uses.
#pragma once

#include "bindings/documentation.h"

namespace tenon::python {

void bind_compat(PyModule& m);

}  // namespace tenon::python
