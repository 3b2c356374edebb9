// The binding of tenon/arith.
#pragma once

#include "bindings/arguments.h"

namespace tenon::python {

void bind_arith(nb::module_& arith);

}  // namespace tenon::python
