// The passes that change in which order floats are combined, or take floats for finite: for a
// function that is compiled with fast_math, before host_passes().
#pragma once

#include "tenon/lower/pipeline.h"

#pragma GCC visibility push(default)

namespace tenon::lowering {

/// In the order in which they run.
std::span<const Pass> fast_math_passes();

}  // namespace tenon::lowering

#pragma GCC visibility pop
