// Foreign functions that programs import as source through pragmas: C and LLVM IR.
//
//   ImportedSources sources;
//   add_imported_sources(module, sources);       // sources.c[0]: "int square(int x) { ... }"
//   ImportedC code = compile_c(sources.c[0], target, {.command = "", .wants_llvm_ir = true});
#pragma once

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/codegen/c_compiler.h"
#include "tenon/tir/function.h"

namespace tenon::codegen {

/// The sources (texts or paths) in the pragmas `import_llvm` and `import_c`, without duplicates.
struct ImportedSources {
  std::vector<std::string> llvm;
  std::vector<std::string> c;
};
void add_imported_sources(const tir::IRModule& module, ImportedSources& sources);

/// Whether a source is the path of a file with one of these suffixes. Otherwise it is the text
/// itself. A path has a single line.
bool is_source_path(const std::string& source, std::initializer_list<std::string_view> suffixes);

/// Options for compiling imported C.
struct CImportOptions {
  /// The C compiler, in the form of $CC. If empty, compile_c uses `clang` if clang exists and is
  /// preferable, because LLVM IR is wanted or the target is foreign. Otherwise it uses `cc`.
  std::string command;
  /// Whether the code generator can link LLVM IR.
  bool wants_llvm_ir = false;
  /// Names of clang to look for, best first.
  std::vector<std::string> clangs = {"clang"};
};

struct ImportedC {
  bool is_llvm_ir = false;
  /// LLVM bitcode if is_llvm_ir, else an object file.
  std::string bytes;
  /// The command used: "clang -O3 -march=native".
  std::string how;
};

/// Compiles C source (a text, or the path of a .c file) for the target. RuntimeError with the
/// compiler's messages; TargetError if the target is another machine and clang is not installed.
ImportedC compile_c(const std::string& source, const CTarget& target,
                    const CImportOptions& options);

/// Throws the RuntimeError for extern functions that are defined nowhere. `pragmas` names the
/// pragmas that import source for the target.
[[noreturn]] void refuse_unknown_functions(const std::set<std::string>& names,
                                           const std::string& pragmas);

}  // namespace tenon::codegen
