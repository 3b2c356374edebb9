// The binding of tenon/inspect: explanations, pages and graphs.
#pragma once

#include "bindings/te.h"

namespace tenon::python {

void bind_inspect(PyModule& m, PyModule& te, PyModule& s_tir);

}  // namespace tenon::python
