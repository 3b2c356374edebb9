// The binding of tenon/driver: targets, lower, build.
#pragma once

#include "bindings/arguments.h"
#include "tenon/driver/build.h"

namespace tenon::python {

void bind_driver(nb::module_& m);

}  // namespace tenon::python
