// Translates lowered kernels to OpenCL C or CUDA C.
//
//   KernelCode code = emit_kernels(program.kernels, Target("opencl").facts());
//   code.text           // "__kernel void add_kernel0(__global const float* restrict A, ..."
//   code.specs[0]       // {.name = "add_kernel0", .params = {Handle(), Handle(), Int(32)}}
//
// A kernel is a function whose parameters are data pointers, each with a flat buffer, and scalars.
// Its body starts with its thread extents, which become indices of the launch. Names are those of
// the program. Kernels compute the same values as the functions of compile.h.
#pragma once

#include "tenon/codegen/compile_options.h"
#include "tenon/codegen/kernels.h"
#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::codegen {

/// Translates the kernels. CUDA C is also compiled if NVRTC is found. LowerError for temporaries of
/// symbolic size, assertions, calls of packed functions and parallel loops, which a kernel cannot
/// contain. Only the options `stage_comments` and `lines` are used. Precondition: the target is a
/// GPU, and names are unique.
KernelCode emit_kernels(const std::vector<tir::PrimFunc>& kernels, const tir::TargetFacts& facts,
                        const CompileOptions& options = {});

}  // namespace tenon::codegen
