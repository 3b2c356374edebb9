// A C++ header of compiled functions with element types and extents in their signatures.
//
//   write_file("kernels.hpp", cpp_header("kernels", functions));
//   // void gemv(const ArrayView<const float, 128, 64>& A, const ArrayView<const float, 64>& x, ...)
#pragma once

#include <string>
#include <vector>

#include "tenon/runtime/spec.h"

namespace tenon::codegen {

/// Returns the text of NAME.hpp: namespace NAME with one function per compiled function, which
/// calls its symbol. Constant extents are part of the parameter type; named sizes are compared on
/// each call (runtime/array_view.h). Precondition: all names satisfy is_c_name(), and the arrays
/// are on CPUs.
std::string cpp_header(const std::string& name,
                       const std::vector<runtime::FunctionSpec>& functions);

}  // namespace tenon::codegen
