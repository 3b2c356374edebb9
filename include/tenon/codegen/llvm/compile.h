// Compiles lowered loop programs to machine code for CPUs, with LLVM.
//
//   codegen::Artifact artifact = codegen::compile(module, facts, {.link = {"./libgemv.so"}});
//   std::cout << artifact.source("ll");          // or "asm"
//   runtime::Module code = artifact.load();
//   code["matmul"](a, b, c);
//
// The functions compute the values that the interpreter (interp/evaluate.h) defines, with these
// freedoms: products and sums are contracted to fused multiply-adds; integer division by zero gives
// an unspecified number and never traps, and the minimum divided by -1 wraps. The buffers of a
// function do not overlap. Supported files: .so, .o, .a, .ll, .bc, .s, .h.
#pragma once

#include <vector>

#include "tenon/codegen/artifact.h"
#include "tenon/codegen/compile_options.h"

namespace tenon::codegen {

/// Compiles a module for one target. TargetError for an unknown processor, feature or triple;
/// LowerError for code that cannot run on a CPU (thread axes, unbound variables); RuntimeError for
/// a library or source that cannot be read.
Artifact compile(const tir::IRModule& module, const tir::TargetFacts& target,
                 const CompileOptions& options = {});
/// Compiles functions for several processors into one module. Each unit is compiled for its own
/// target. TargetError if the triples or system libraries of the targets differ. Precondition:
/// there is at least one function, and names are unique.
Artifact compile(const std::vector<CompileUnit>& units, const CompileOptions& options = {});

/// Makes an artifact again from the bytes that its stored() returned. `targets` and `options` are
/// those of the original compilation. Nullopt if the bytes do not contain such an artifact.
std::optional<Artifact> restore(std::string_view bytes, std::vector<tir::TargetFacts> targets,
                                const CompileOptions& options);

}  // namespace tenon::codegen
