// The passes between the printed text and code for a device, in order; run_passes (pipeline.h) runs
// them.
#pragma once

#include "tenon/lower/pipeline.h"

#pragma GCC visibility push(default)

namespace tenon::lowering {

/// Of the whole function, before it is split (split_kernels.h); with those that only devices want
/// whose copies to shared memory go on while threads compute.
std::span<const Pass> device_passes(bool has_async_copies = false);
/// Of each kernel after the split, which run with options_of_kernels.
std::span<const Pass> kernel_passes();
/// Vectors are made to fit the 128 bits that a thread of a device loads at once.
PassOptions options_of_kernels(PassOptions options = {});

}  // namespace tenon::lowering

#pragma GCC visibility pop
