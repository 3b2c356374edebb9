// The binding of tenon/inspect: explanations, pages and graphs.
#pragma once

#include "bindings/te.h"

namespace tenon::python {

void bind_inspect(nb::module_& m, nb::module_& te);

}  // namespace tenon::python
