// Provides the user's Python line as a SourceLocation, so that errors can refer to it like to a
// line of a C++ program.
//
//    m.def("reduce_axis", [](Range range) { return te::reduce_axis(range, "k", here()); });
#pragma once

#include <Python.h>

#include "tenon/support/error.h"

namespace tenon::python {

/// Returns the file and line of the innermost Python frame outside of the package `tenon`. The GIL
/// must be held. The location stays valid until the process ends.
SourceLocation here();

/// Sets the folder of the package. here() skips the frames of files in this folder.
void set_package_folder(const std::string& folder);

}  // namespace tenon::python
