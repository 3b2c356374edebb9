// The bindings of the rooms, each defined in the source of its room's name.
#pragma once

#include "bindings/te.h"
#include "tenon/s_tir/schedule.h"

namespace tenon::python {

void bind_arith(PyModule& arith);
/// Properties of stages, operations and functions that only tenon.compat.tvm uses.
void bind_compat(PyModule& m);
/// Explanations, pages and graphs.
void bind_inspect(PyModule& m, PyModule& te, PyModule& s_tir);
/// Arrays, modules, functions.
void bind_runtime(PyModule& m, PyModule& runtime);
/// Block programs, their schedules and traces. Copies of a block schedule in C++ share their state
/// until one of them changes. Python objects refer to one schedule.
void bind_s_tir(PyModule& s_tir);
/// The operator library and its schedules.
void bind_topi(PyModule& topi, PyClass<te::Tensor> tensor);
/// Spaces, tuning, databases.
void bind_tune(PyModule& tune);

}  // namespace tenon::python
