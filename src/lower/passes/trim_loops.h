// Ends loops where a condition around all of their body ends them anyway. For host code; never
// printed.
//
//   for (i, 0, 16) {                     for (i, 0, 4) {
//     if (i < 4) B[i] = A[i]      =>       B[i] = A[i]
//   }                                    }
//
// Such loops are what is left of vectors over the end of a dimension. Only constant ends: those of
// others would be computed each time.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc trim_loops(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
