// What compiled code calls of the runtime, as part of what is saved: then a C program links the
// saved file and nothing else. The texts are runtime/standalone/standalone.c and the C headers; the
// system's C compiler makes an object of them.
//
//   compile_standalone_runtime(CCompiler(""), "runtime.o");   // to be linked with "functions.o"
//   with_runtime_headers(c_header("f.h", functions))          // includes the C library's headers alone
#pragma once

#include <filesystem>
#include <string>

#include "tenon/codegen/c_compiler.h"

namespace tenon::codegen {

/// The text with every `#include "..."` of the runtime's headers replaced by what they say, each
/// once.
std::string with_runtime_headers(const std::string& text);

/// Writes an object. Its symbols are weak, so that several saved files can be linked into one
/// program. `flags` say what to compile for. Throws RuntimeError if there is no C compiler, and
/// with what it printed if it fails.
void compile_standalone_runtime(const CCompiler& compiler, const std::vector<std::string>& flags,
                                const std::filesystem::path& object);

}  // namespace tenon::codegen
