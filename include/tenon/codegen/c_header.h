// A C header that declares generated functions.
//
//   write_file("twice.h", c_header("twice.h", functions));
#pragma once

#include <string>
#include <vector>

#include "tenon/runtime/spec.h"

namespace tenon::codegen {

/// Returns the text of the header. For each function: its requirements as a comment, its symbol as
/// a TenonPackedFunction, and an inline function of its own name with one parameter (DLTensor*,
/// int64_t or double) per parameter. A name that C or C programs reserve, such as `main`, gets no
/// inline function.
std::string c_header(const std::string& file_name,
                     const std::vector<runtime::FunctionSpec>& functions);

}  // namespace tenon::codegen
