// The binding of tenon/tir: types, expressions, buffers, statements, functions.
#pragma once

#include <nanobind/nanobind.h>

namespace tenon::python {

void bind_types(nanobind::module_& m);
void bind_expressions(nanobind::module_& m, nanobind::module_& tir);
void bind_statements(nanobind::module_& m, nanobind::module_& tir);

}  // namespace tenon::python
