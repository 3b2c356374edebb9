// A C header that declares generated functions.
//
//   write_file("twice.h", c_header("twice.h", functions));
#pragma once

#include <string>
#include <vector>

#include "tenon/runtime/spec.h"

namespace tenon::codegen {

/// The text of the header of this file name: what each function demands, as a comment, and its
/// symbol as a TenonPackedFunction.
std::string c_header(const std::string& file_name,
                     const std::vector<runtime::FunctionSpec>& functions);

}  // namespace tenon::codegen
