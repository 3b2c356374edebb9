// Makes memory of vectors into memory of their elements, which is read and written by vectors. For
// host code; never printed.
//
//   allocate(B, float32x4, [16]); B[j] = ...   =>   allocate(B, float32, [64]); B[ramp(j*4, 1, 4)] = ...
//
// It undoes what rewrite_storage does for the text that readers know (vectorize_elements): passes
// that look for sums, rows and vectors of other widths know one form of a vector in memory.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc scalarize_elements(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
