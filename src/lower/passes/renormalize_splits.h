// Takes apart what a split left in divisions and constant guards, for the next simplification to
// fold it:
//
//   floordiv(floormod(t, 64), 32)   =>  floormod(floordiv(t, 32), 2)
//   floordiv(o*8 + i, 12)           =>  floordiv(o*2 + floordiv(i, 4), 3)
//   o*8 + i < 100                   =>  floordiv(o*2 + floordiv(i, 4), 25) < 1
//
// So a guard loses the factor that its scale and its bound have in common.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc renormalize_splits(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
