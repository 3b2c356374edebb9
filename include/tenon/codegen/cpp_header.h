// A C++ header of compiled functions with types and extents in their signatures.
//
//   write_file("kernels.hpp", cpp_header("kernels", functions));
//   // void gemv(const ArrayView<const float, 128, 64>& A, const ArrayView<const float, 64>& x, ...)
#pragma once

#include <string>
#include <vector>

#include "tenon/runtime/spec.h"

namespace tenon::codegen {

/// The text of NAME.hpp: in the namespace NAME, for each function one that calls its symbol. An
/// extent that is the same wherever it stands is a number in the type; a size with a name is
/// compared when the function is called (runtime/array_view.h).
/// Precondition: names that is_c_name(), arrays on CPUs.
std::string cpp_header(const std::string& name,
                       const std::vector<runtime::FunctionSpec>& functions);

}  // namespace tenon::codegen
