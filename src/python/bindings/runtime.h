// The binding of tenon/runtime: arrays, modules, functions.
#pragma once

#include "bindings/arguments.h"

namespace tenon::python {

void bind_runtime(nb::module_& m, nb::module_& runtime);

}  // namespace tenon::python
