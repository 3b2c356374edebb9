// The names under which other code finds generated functions: in objects, libraries and headers.
//
//   SymbolNames names;
//   names.packed("matmul") == "matmul_packed"
//   names.packed("mat-mul") == "mat_mul_packed"     // one that C can declare
#pragma once

#include <set>
#include <string>

namespace tenon::codegen {

/// c_api.h: where loading a shared library finds what its functions are.
inline constexpr const char* kManifestSymbol = "tenon_module_manifest";
/// What it exports as its kernels, if it has any (c_api.h).
inline constexpr const char* kKernelsSymbol = "tenon_module_kernels";

/// Of one module: no two are the same.
class SymbolNames {
 public:
  /// A function's symbol, which is another than its name: that may be `main` or `exp`. `prefix` is
  /// that of the system library it belongs to.
  std::string packed(const std::string& function, const std::string& prefix = "");

 private:
  std::set<std::string> taken_;
};

}  // namespace tenon::codegen
