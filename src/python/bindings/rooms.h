// The functions that bind the modules of Tenon. Each is defined in the source file with the
// module's name.
#pragma once

#include "bindings/te.h"
#include "tenon/s_tir/schedule.h"

namespace tenon::python {

void bind_arith(PyModule& arith);
/// Binds properties of stages, operations and functions that only tenon.compat.tvm uses.
void bind_compat(PyModule& m);
/// Binds explanations, pages and graphs.
void bind_inspect(PyModule& m, PyModule& te, PyModule& s_tir);
/// Binds arrays, modules and functions.
void bind_runtime(PyModule& m, PyModule& runtime);
/// Binds block programs, their schedules and traces. In C++, copies of a block schedule share their
/// state until one of them changes. In Python, several names may refer to the same schedule.
void bind_s_tir(PyModule& s_tir);
/// Binds the operator library and its schedules.
void bind_topi(PyModule& topi, PyClass<te::Tensor> tensor);
/// Binds search spaces, tuning and databases.
void bind_tune(PyModule& tune);

}  // namespace tenon::python
