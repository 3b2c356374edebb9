// Functions of other languages that programs bring along as source, in pragmas: C, and LLVM IR.
//
//   ImportedSources sources;
//   add_imported_sources(module, sources);       // sources.c[0]: "int square(int x) { ... }"
//   ImportedC code = compile_c(sources.c[0], target, {.command = "", .wants_llvm_ir = true});
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/codegen/c_compiler.h"
#include "tenon/tir/function.h"

namespace tenon::codegen {

/// The texts (or paths) that pragmas `import_llvm` and `import_c` of functions give, each once.
struct ImportedSources {
  std::vector<std::string> llvm;
  std::vector<std::string> c;
};
void add_imported_sources(const tir::IRModule& module, ImportedSources& sources);

/// Whether a source is the path of a file with one of these suffixes, rather than a text: a text
/// has several lines, a path has one.
bool is_source_path(const std::string& source, std::initializer_list<std::string_view> suffixes);

/// Which compiler imported C is given to.
struct CImportOptions {
  /// The C compiler to ask, as $CC names it. Empty: `clang` where LLVM IR is wanted or the target
  /// is foreign and there is a clang, else `cc`.
  std::string command;
  /// For a code generator that links LLVM IR.
  bool wants_llvm_ir = false;
  /// Names of clang to look for, best first.
  std::vector<std::string> clangs = {"clang"};
};

struct ImportedC {
  /// What the C compiler made: LLVM IR, or an object.
  enum class Form : std::uint8_t { Object, LlvmIr };
  Form form = Form::Object;
  /// An object file, or LLVM bitcode.
  std::string bytes;
  /// How it came about: "clang -O3 -march=native".
  std::string how;
};

/// C source (a text, or the path of a .c file), compiled for the target. Throws RuntimeError with
/// the compiler's messages, TargetError if the target is another machine and there is no clang.
ImportedC compile_c(const std::string& source, const CTarget& target,
                    const CImportOptions& options);

}  // namespace tenon::codegen
