// From lowered loop programs to machine code for a CPU, by LLVM.
//
//   codegen::Artifact artifact = codegen::compile(module, facts, {.link = {"./libgemv.so"}});
//   std::cout << artifact.source("ll");          // or "asm"
//   runtime::Module code = codegen::load(artifact);
//   code["matmul"](a, b, c);
//
// Functions compute what the interpreter of interp/evaluate.h does. Beyond that: products and sums
// are contracted to fused multiply-adds; integer division never traps (by zero it gives some
// number, the least integer by -1 wraps); a float that does not fit the integer that it is cast to
// gives some number. Buffers of a function do not overlap. Saved are .so .o .a .ll .bc .s and .h.
#pragma once

#include <vector>

#include "tenon/codegen/artifact.h"
#include "tenon/codegen/compile_options.h"

namespace tenon::codegen {

/// Throws TargetError for an unknown processor, feature or triple, LowerError for what cannot be
/// compiled for a CPU (thread axes, unbound variables), RuntimeError for a library or a source that
/// cannot be read.
Artifact compile(const tir::IRModule& module, const tir::TargetFacts& target,
                 const CompileOptions& options = {});
/// One module of functions for several processors: each is compiled for its own. TargetError if
/// they are of different kinds (triples) or for different system libraries. Precondition: no two
/// functions have a name in common, and there is at least one.
Artifact compile(const std::vector<CompileUnit>& units, const CompileOptions& options = {});

}  // namespace tenon::codegen
