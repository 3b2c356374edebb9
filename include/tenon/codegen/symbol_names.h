// Symbol names of generated functions in objects, libraries and headers.
//
//   std::set<std::string> taken = function_names(units);
//   packed_symbol("matmul", taken) == "matmul_packed"
//   packed_symbol("mat-mul", taken) == "mat_mul_packed"     // a valid C name
#pragma once

#include <set>
#include <string>
#include <vector>

#include "tenon/codegen/compile_options.h"

namespace tenon::codegen {

/// The symbol through which a loaded shared library describes its functions (c_api.h).
inline constexpr const char* kManifestSymbol = "tenon_module_manifest";
/// The symbol through which a library provides its kernels, if it has any (c_api.h).
inline constexpr const char* kKernelsSymbol = "tenon_module_kernels";

/// Returns the names of the functions of one module. The C header defines them, so symbols must
/// differ from them.
std::set<std::string> function_names(const std::vector<CompileUnit>& units);

/// Returns a symbol for the function that is not in `taken`, and adds it to `taken`. It differs
/// from the function's name, which may already be defined, as `main` or `exp`. `prefix` is the
/// prefix of the system library, or empty.
std::string packed_symbol(const std::string& function, std::set<std::string>& taken,
                          const std::string& prefix = "");

}  // namespace tenon::codegen
