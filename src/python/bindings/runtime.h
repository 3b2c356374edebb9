// The binding of tenon/runtime: arrays, modules, functions.
#pragma once

#include "bindings/arguments.h"

namespace tenon::python {

void bind_runtime(PyModule& m, PyModule& runtime);

}  // namespace tenon::python
