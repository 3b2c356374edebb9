// Additions of zero to floats, which TVM 0.9 folds, for its text only: x + 0.0 is not x where x is
// -0.0.
//
//   B[0] = (A[0] + 0f32)        becomes        B[0] = A[0]
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc fold_added_zeros(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
