// A C++ header of compiled functions with element types and extents in their signatures.
//
//   write_file("kernels.hpp", cpp_header("kernels", functions));
//   // void gemv(const ArrayView<const float, 128, 64>& A, const ArrayView<const float, 64>& x, ...)
#pragma once

#include <string>
#include <vector>

#include "tenon/runtime/spec.h"

namespace tenon::codegen {

/// Returns the text of NAME.hpp: a namespace NAME with one C++ function per compiled function,
/// which calls the symbol of the compiled function. Constant extents are part of the parameter
/// type. Each call checks that extents with the same symbolic size are equal
/// (runtime/array_view.h). Precondition: all names satisfy is_c_name(), and the arrays are on CPUs.
std::string cpp_header(const std::string& name,
                       const std::vector<runtime::FunctionSpec>& functions);

}  // namespace tenon::codegen
