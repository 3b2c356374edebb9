// From lowered kernels to text: OpenCL C, or CUDA C.
//
//   KernelCode code = emit_kernels(program.kernels, Target("opencl").facts());
//   code.text           // "__kernel void add_kernel0(__global const float* restrict A, ..."
//   code.specs[0]       // {.name = "add_kernel0", .params = {Handle(), Handle(), Int(32)}}
//
// A kernel is a function whose parameters are data pointers, each with a flat buffer, and scalars;
// its body begins with the extents of its thread axes, which become indices of the launch. Names
// are those of the program. What a kernel computes, it computes like the functions of compile.h.
#pragma once

#include "tenon/codegen/compile_options.h"
#include "tenon/codegen/kernels.h"
#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::codegen {

/// How the text of kernels is written.
struct KernelOptions {
  /// Comments say which stage is computed, and the user's line of it.
  bool stage_comments = false;
  /// As in CompileOptions: the text tells the line of every statement.
  const StatementLines* lines = nullptr;
};

/// CUDA C is compiled where NVRTC is found. Throws LowerError for what a kernel cannot do:
/// temporaries of symbolic size, assertions, calls of packed functions, parallel loops.
/// Precondition: the target is a GPU's, and names differ.
KernelCode emit_kernels(const std::vector<tir::PrimFunc>& kernels, const tir::TargetFacts& facts,
                        const KernelOptions& options = {});

}  // namespace tenon::codegen
