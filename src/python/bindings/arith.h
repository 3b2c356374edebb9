// The binding of tenon/arith.
#pragma once

#include "bindings/arguments.h"

namespace tenon::python {

void bind_arith(PyModule& arith);

}  // namespace tenon::python
