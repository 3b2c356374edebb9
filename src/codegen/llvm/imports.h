// Functions of other languages that come along as source: LLVM IR, and C.
#pragma once

#include <llvm/IR/Module.h>

#include <string>
#include <vector>

#include "tenon/codegen/llvm/compile.h"
#include "tenon/tir/function.h"

namespace tenon::codegen {

/// c_api.h: where loading a shared library finds what its functions are.
inline constexpr const char* kManifestSymbol = "tenon_module_manifest";

/// The texts (or paths) that pragmas `import_llvm` and `import_c` of functions give, each once.
struct ImportedSources {
  std::vector<std::string> llvm;
  std::vector<std::string> c;
};
void add_imported_sources(const tir::IRModule& module, ImportedSources& sources);

/// Links LLVM IR (a text, or the path of a .ll or .bc file) into the module; what it defines
/// becomes the module's own. Throws RuntimeError with LLVM's message and line.
void import_llvm(llvm::Module& module, const std::string& source);

/// Makes an object file of C source (a text, or the path of a .c file).
std::string compile_c(const std::string& source, const tir::TargetFacts& target);

}  // namespace tenon::codegen
