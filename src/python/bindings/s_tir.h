// The binding of tenon/s_tir.
#pragma once

#include <nanobind/nanobind.h>

namespace tenon::python {

void bind_s_tir(nanobind::module_& m);

}  // namespace tenon::python
