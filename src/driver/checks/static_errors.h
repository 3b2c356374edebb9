// Static checks of loops: accesses that are always out of bounds, and concurrent iterations that
// are not proved independent.
#pragma once

#include "tenon/lower/access_proofs.h"

namespace tenon {

/// Throws BoundError for an access that is always out of bounds.
void refuse_wrong_accesses(const tir::PrimFunc& loops);

/// Searches for a parallel or vectorized loop whose iterations are not proved independent, and
/// records the result in an annotation that all passes preserve. A function with the annotation is
/// not searched again. `racing` is the message of a schedule that is known to race.
void note_conflicts(tir::PrimFunc& loops, lowering::LoopsToProve which,
                    const lowering::PassOptions& options,
                    const std::optional<std::string>& racing = std::nullopt);

/// Throws LowerError with both accesses for a parallel or vectorized loop whose iterations are not
/// proved independent. The recorded result is used if there is one.
void refuse_conflicts(const tir::PrimFunc& func, const lowering::PassOptions& options);

}  // namespace tenon
