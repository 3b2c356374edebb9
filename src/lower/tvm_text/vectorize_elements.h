// Rewrites temporaries that are accessed only by whole aligned vectors of one width as temporaries
// with vector elements.
//
//   allocate(B, float32, [64]); B[ramp(j*4, 1, 4)] = ...
//   =>   allocate(B, float32x4, [16]); B[j] = ...
#pragma once

#include "tenon/tir/stmt.h"

namespace tenon::lowering {

tir::Stmt vectorize_elements(const tir::Stmt& body);

}  // namespace tenon::lowering
