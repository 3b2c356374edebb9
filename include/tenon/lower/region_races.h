// Persistent parallel regions whose tasks would race: printed, but not built.
#pragma once

#include "tenon/tir/function.h"

namespace tenon {

/// Every task of a region (pragma parallel_launch_point) runs its body; the parallel loops inside
/// are shared out. Throws LowerError, naming the buffer and the loops, where tasks would do the
/// same store or call, where a loop uses what another one fills or reads and no barrier stands
/// between, and where each task would have a part of a buffer in memory of its own.
void refuse_region_races(const tir::PrimFunc& func);

}  // namespace tenon
