// Symbol names of generated functions in objects, libraries and headers.
//
//   SymbolNames names;
//   names.packed("matmul") == "matmul_packed"
//   names.packed("mat-mul") == "mat_mul_packed"     // a valid C name
#pragma once

#include <set>
#include <string>

namespace tenon::codegen {

/// The symbol from which a loaded shared library reports its functions (c_api.h).
inline constexpr const char* kManifestSymbol = "tenon_module_manifest";
/// The symbol of the kernels, exported if the library has any (c_api.h).
inline constexpr const char* kKernelsSymbol = "tenon_module_kernels";

/// The symbol names of one module, which are distinct.
class SymbolNames {
 public:
  /// Takes the name of a function, which the C header defines. Precedes the calls of `packed`.
  void reserve(const std::string& function) { taken_.insert(function); }
  /// Returns a symbol for the function. It differs from the function's name, which may be `main` or
  /// `exp`. `prefix` is the prefix of the system library; empty for other functions.
  std::string packed(const std::string& function, const std::string& prefix = "");

 private:
  std::set<std::string> taken_;
};

}  // namespace tenon::codegen
