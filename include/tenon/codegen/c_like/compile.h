// Compiles lowered loop programs to C, and loads them with the system's C compiler.
//
//   codegen::Artifact artifact = codegen::compile_to_c({{module, facts}}, {.c_compiler = "gcc"});
//   std::cout << artifact.source("c");
//   artifact.save("matmul.c"), artifact.save("matmul.h");         // also .o, .a and .so
//   artifact.load()["matmul"](a, b, c);
//
// The text is self-contained C11. It needs stdint.h, libm and, for large temporaries, malloc. A
// function `matmul` of arrays A, B, C and a size n becomes
//
//   int32_t matmul(const float* restrict A, const float* restrict B, float* restrict C, int32_t n);
//
// for C programs, which returns 0 on success, and `matmul_packed` for the runtime (c_api.h). When
// the runtime loads the code, parallel loops run on its threads and large temporaries come from its
// pool. Otherwise parallel loops run on the calling thread.
//
// The functions compute the same values as those of llvm/compile.h, with the same freedoms:
// products and sums may be contracted, and vectors are loops over lanes. Extern functions cannot
// take vectors or 16-bit floats. If an extern function throws an exception through the code,
// workspaces in use are leaked.
#pragma once

#include <vector>

#include "tenon/codegen/artifact.h"
#include "tenon/codegen/compile_options.h"

namespace tenon::codegen {

/// Compiles the functions. LowerError for constructs that C cannot express (thread axes, LLVM
/// intrinsics and sources, extern functions of vectors), TargetError for functions for several
/// processors, RuntimeError if there is no C compiler or if it rejects the text or an imported
/// source. Precondition: there is at least one function, and names are unique.
Artifact compile_to_c(const std::vector<CompileUnit>& units, const CompileOptions& options = {});

}  // namespace tenon::codegen
