// The lowering pipeline: tables of passes, and the runner that verifies, dumps, times and adds
// error context around each pass.
//
//   tir::PrimFunc flat = run_pipeline(func, {.simple_mode = true});
//
// A row of a table states the form that a pass takes and the form that it gives; the runner checks
// both. (The namespace is `lowering`, because `tenon::lower` is the function that users call.)
#pragma once

#include <span>

#include "tenon/lower/pass.h"

namespace tenon::lowering {

/// The passes from a block program to loops over multi-dimensional buffers.
std::span<const Pass> block_passes();
/// The passes before the text is printed, in order.
std::span<const Pass> lowering_passes();
/// The passes between the printed text and code for a CPU.
std::span<const Pass> host_passes();
/// The passes before host_passes() of a function compiled with fast_math: they change the order in
/// which floats are combined, or assume that floats are finite.
std::span<const Pass> fast_math_passes();
/// The passes between the printed text and split_kernels (split_kernels.h). `has_async_copies`: the
/// device copies to shared memory while its threads compute.
std::span<const Pass> device_passes(bool has_async_copies = false);
/// The passes over each kernel, which run with options_of_kernels.
std::span<const Pass> kernel_passes();
/// `options` with vectors of the 128 bits that a thread of a device loads at once.
PassOptions options_of_kernels(PassOptions options = {});

/// Runs the enabled passes. Errors of the user (LowerError and its like) pass through unchanged.
/// Any other failure, a function of another form than a pass takes, and a result that does not
/// verify throw PassFailure. Variables that are undefined before the first pass (a thread that a
/// schedule names and does not bind) are not attributed to a pass.
tir::PrimFunc run_passes(std::span<const Pass> passes, tir::PrimFunc func,
                         const PipelineOptions& options = {});
/// lowering_passes over a multi-dimensional function or, after block_passes, a block program.
tir::PrimFunc run_pipeline(tir::PrimFunc func, const PipelineOptions& options);

}  // namespace tenon::lowering
