// The lowering pipeline: tables of passes, and the runner that verifies, dumps and times each pass
// and adds error context.
//
//   tir::PrimFunc flat = run_pipeline(func, {.simple_mode = true});
//
// A table row states the forms of the input and output of a pass, and the runner checks both. (The
// namespace is `lowering` because `tenon::lower` is the user's entry point.)
#pragma once

#include <span>

#include "tenon/lower/pass.h"

namespace tenon::lowering {

/// Returns the passes that lower a block program to loops over multi-dimensional buffers.
std::span<const Pass> block_passes();
/// Returns the passes that lower loops over multi-dimensional buffers to Form::Lowered, the form
/// that `lower` returns.
std::span<const Pass> lowering_passes();
/// Returns the passes for host code. They run after lowering_passes() and before code generation.
std::span<const Pass> host_passes();
/// Returns the passes that run before host_passes() if fast_math is set. They reassociate float
/// operations or assume that floats are finite.
std::span<const Pass> fast_math_passes();
/// Returns the passes for programs with kernels. They run after lowering_passes() and before
/// split_kernels (split_kernels.h).
std::span<const Pass> device_passes();
/// Returns the passes that run on each kernel, with the options of options_of_kernels.
std::span<const Pass> kernel_passes();
/// Returns `options` with vectors of 128 bits, the maximum that a device thread loads in one
/// access.
PassOptions options_of_kernels(PassOptions options = {});

/// Runs the enabled passes. User errors (LowerError and similar) propagate unchanged. PassFailure
/// for any other exception, for an input of the wrong form, and for a result that does not verify.
/// A variable that is already undefined in the input, such as a thread that the schedule uses but
/// does not bind, is not reported as a failure of a pass.
tir::PrimFunc run_passes(std::span<const Pass> passes, tir::PrimFunc func,
                         const PipelineOptions& options = {});
/// Runs block_passes if `func` is a block program, then lowering_passes. The result has
/// Form::Lowered.
tir::PrimFunc run_pipeline(tir::PrimFunc func, const PipelineOptions& options);
/// Runs fast_math_passes if `fast_math` is set, then host_passes. The result is ready for code
/// generation.
tir::PrimFunc run_host_pipeline(tir::PrimFunc func, const PassOptions& options, bool fast_math);

}  // namespace tenon::lowering
