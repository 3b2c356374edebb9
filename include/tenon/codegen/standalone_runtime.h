// The parts of the runtime that compiled code calls, to be compiled into the saved file. A C
// program then has to link only that file. The sources are runtime/standalone/standalone.c and the
// C headers; the system's C compiler compiles them.
//
//   compile_standalone_runtime(CCompiler(""), {}, "runtime.o");   // to be linked with "functions.o"
//   with_runtime_headers(c_header("f.h", functions))              // includes only C library headers
#pragma once

#include <filesystem>
#include <string>

#include "tenon/codegen/c_compiler.h"

namespace tenon::codegen {

/// Replaces every `#include "..."` of a runtime header by the content of the header. A header that
/// is included again is replaced by nothing.
std::string with_runtime_headers(const std::string& text);

/// Writes an object file. Its symbols are weak, so that several saved files can be linked into one
/// program. `flags` select the target. RuntimeError if the C compiler is missing or fails; the
/// message includes its output.
void compile_standalone_runtime(const CCompiler& compiler, const std::vector<std::string>& flags,
                                const std::filesystem::path& object);

}  // namespace tenon::codegen
