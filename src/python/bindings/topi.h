// The binding of tenon/topi: the operator library and its schedules.
#pragma once

#include "bindings/te.h"

namespace tenon::python {

void bind_topi(PyModule& topi, PyClass<te::Tensor> tensor);

}  // namespace tenon::python
