// What is proved wrong of the loops that a schedule makes, refused with the accesses in question.
#pragma once

#include "tenon/tir/function.h"

namespace tenon {

/// Throws BoundError for an access that is outside of its tensor whenever it happens.
void refuse_wrong_accesses(const tir::PrimFunc& loops);

/// Throws LowerError for a parallel or vectorized loop whose iterations all store to the same
/// element, with both accesses. What may conflict, but need not, `explain` lists.
void refuse_conflicts(const tir::PrimFunc& loops);

}  // namespace tenon
