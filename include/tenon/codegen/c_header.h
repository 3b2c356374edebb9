// A C header that declares generated functions.
//
//   write_file("twice.h", c_header("twice.h", functions));
#pragma once

#include <string>
#include <vector>

#include "tenon/runtime/spec.h"

namespace tenon::codegen {

/// Returns the text of the header. It contains for each function: the requirements as a comment,
/// the declaration of the symbol as a TenonPackedFunction, and an inline function with the name of
/// the function and one parameter (DLTensor*, int64_t or double) per parameter. A function whose
/// name is reserved in C or by C programs, such as `main`, has no inline function.
std::string c_header(const std::string& file_name,
                     const std::vector<runtime::FunctionSpec>& functions);

}  // namespace tenon::codegen
