// The binding of scripts, and of the inspection of programs by their nodes.
#pragma once

#include <nanobind/nanobind.h>

namespace tenon::python {

void bind_script(nanobind::module_& m);
void bind_inspect(nanobind::module_& m);

}  // namespace tenon::python
