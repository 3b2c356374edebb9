// The user's Python line as a SourceLocation, so that errors of the compiler name it as they name
// lines of C++ programs.
//
//   m.def("reduce_axis", [](Range range) { return te::reduce_axis(range, "k", here()); });
#pragma once

#include <Python.h>

#include "tenon/support/error.h"

namespace tenon::python {

/// Returns the file and line of the innermost Python frame outside the package `tenon`. Requires
/// the GIL. The location stays valid until the process ends.
SourceLocation here();

/// Sets the folder of the package, whose frames here() skips.
void set_package_folder(const std::string& folder);

}  // namespace tenon::python
