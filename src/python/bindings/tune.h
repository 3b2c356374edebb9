// The binding of tenon/tune: spaces, tuning, databases.
#pragma once

#include "bindings/s_tir.h"

namespace tenon::python {

void bind_tune(PyModule& tune);

}  // namespace tenon::python
