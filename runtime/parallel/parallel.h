// State shared by parallel loops and parallel regions: whether the calling thread is inside one.
#pragma once

#include "runtime/parallel/crew.h"

namespace tenon::runtime {

/// Whether the calling thread is inside the body of a parallel loop.
bool in_parallel_loop();
/// Whether the calling thread is inside a task of a parallel region.
bool in_parallel_region();

}  // namespace tenon::runtime
