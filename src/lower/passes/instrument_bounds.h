// Guards every store by the bounds of all elements that it reads and writes:
//
//   Y[i] = X[i + 1]   =>   if (0 <= i < size(Y) && 0 <= i + 1 < size(X)) { Y[i] = X[i + 1] }
//                          else assert(..., "OUT OF THE BOUNDS")
//
// Sizes are those that flatten_storage left in `buffer_bound` attributes, and for temporaries those
// of the buffer as it is accessed. What is read in one branch of an if_then_else is only checked
// where that branch is taken.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc instrument_bounds(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
