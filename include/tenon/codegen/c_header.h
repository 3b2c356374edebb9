// A C header that declares generated functions.
//
//   write_file("twice.h", c_header("twice.h", functions));
#pragma once

#include <string>
#include <vector>

#include "tenon/runtime/spec.h"

namespace tenon::codegen {

/// The text of the header of this file name: what each function demands, as a comment, its symbol
/// as a TenonPackedFunction, and an inline function of its own name with one parameter for each of
/// its own: DLTensor*, int64_t or double. Names that C or its programs have, such as `main`, get
/// none.
std::string c_header(const std::string& file_name,
                     const std::vector<runtime::FunctionSpec>& functions);

}  // namespace tenon::codegen
