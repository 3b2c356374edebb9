// From lowered loop programs to C, and into this process by the system's C compiler.
//
//   codegen::Artifact artifact = codegen::compile_to_c({{module, facts}}, {.c_compiler = "gcc"});
//   std::cout << artifact.source("c");
//   artifact.save("matmul.c"), artifact.save("matmul.h");         // also .o, .a and .so
//   codegen::load(artifact)["matmul"](a, b, c);
//
// The text is C11 and stands alone: it needs stdint.h, libm and, where it has large temporaries,
// malloc. A function `matmul` of arrays A, B, C and a size n is
//
//   int32_t matmul(const float* restrict A, const float* restrict B, float* restrict C, int32_t n);
//
// for C programs, which returns 0 if all went well, and beside it `matmul_packed` for the runtime
// (c_api.h). Loaded by the runtime, parallel loops run on its threads and large temporaries come
// from its pool; without it the loops run on the calling thread.
//
// Functions compute what those of llvm/compile.h do, with the same liberties: products and sums may
// be contracted, vectors are loops over lanes. Extern functions take no vectors and no numbers of
// 16 bits; a workspace stays taken if one of them throws an exception through the code.
#pragma once

#include <vector>

#include "tenon/codegen/artifact.h"
#include "tenon/codegen/compile_options.h"

namespace tenon::codegen {

/// Throws LowerError for what C cannot say (thread axes, LLVM's intrinsics and sources, extern
/// functions of vectors), TargetError for functions that are for several processors, RuntimeError
/// if there is no C compiler or it refuses the text or a source that the functions import.
/// Precondition: no two functions have a name in common, and there is at least one.
Artifact compile_to_c(const std::vector<CompileUnit>& units, const CompileOptions& options = {});

}  // namespace tenon::codegen
