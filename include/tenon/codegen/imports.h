// Foreign functions that programs import as source through pragmas: C and LLVM IR.
//
//   std::vector<std::string> llvm_sources, c_sources;
//   add_imported_sources(module, llvm_sources, c_sources);   // "int square(int x) { ... }"
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/tir/function.h"

namespace tenon::codegen {

/// Adds the sources (texts or paths) in the pragmas `import_llvm` and `import_c` to the lists,
/// without duplicates.
void add_imported_sources(const tir::IRModule& module, std::vector<std::string>& llvm_sources,
                          std::vector<std::string>& c_sources);

/// Whether a source is the path of a file with one of these suffixes. Otherwise it is the text
/// itself. A path has a single line.
bool is_source_path(const std::string& source, std::initializer_list<std::string_view> suffixes);

/// Throws the RuntimeError for extern functions that are defined nowhere. `pragmas` names the
/// pragmas that import source for the target.
[[noreturn]] void refuse_unknown_functions(const std::set<std::string>& names,
                                           const std::string& pragmas);

}  // namespace tenon::codegen
