// Symbol names of generated functions in objects, libraries and headers.
//
//   SymbolNames names;
//   names.packed("matmul") == "matmul_packed"
//   names.packed("mat-mul") == "mat_mul_packed"     // a valid C name
#pragma once

#include <set>
#include <string>

namespace tenon::codegen {

/// The symbol through which a loaded shared library describes its functions (c_api.h).
inline constexpr const char* kManifestSymbol = "tenon_module_manifest";
/// The symbol through which a library provides its kernels, if it has any (c_api.h).
inline constexpr const char* kKernelsSymbol = "tenon_module_kernels";

/// Chooses distinct symbol names for one module.
class SymbolNames {
 public:
  /// Reserves a function's name, which the C header defines. All names are reserved before the
  /// first call of `packed`.
  void reserve(const std::string& function) { taken_.insert(function); }
  /// Returns a symbol for the function. It differs from the function's name, which may already be
  /// defined, as `main` or `exp`. `prefix` is the prefix of the system library, or empty.
  std::string packed(const std::string& function, const std::string& prefix = "");

 private:
  std::set<std::string> taken_;
};

}  // namespace tenon::codegen
