// Loops whose guards hold in all but a few iterations are split there, so that the main part is
// free of them.
//
//   for (o, 0, 13) { for (i, 0, 8) { if likely(o*8 + i < 100) { S } } }
//   for (o, 0, 12) { for (i, 0, 8) { S } }    for (i, 0, 4) { S with o = 12 }
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// The parts of a loop follow one another and cover exactly its range, whatever the sizes are: an
/// end that cannot be proved to lie within the range is clamped to it. A guard is dropped only
/// where it holds for all values of the loops inside. A parallel loop stays one loop, and chooses
/// inside. Unrolled loops stay: their copies decide. Afterwards no condition is marked `likely`.
/// Copies past partition.max_growth times the size of the function are not made; what is not split
/// keeps its guards.
tir::PrimFunc partition_loops(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
