// Checks loops of schedules and users: accesses proved wrong, iterations not proved independent.
#pragma once

#include "tenon/lower/access_proofs.h"

namespace tenon {

/// Throws BoundError for an access that is outside of its tensor whenever it happens.
void refuse_wrong_accesses(const tir::PrimFunc& loops);

/// Looks for a parallel or vectorized loop whose iterations are not proved independent, and notes
/// the result in the function, where it stays through all passes. A function that has the note is
/// not looked at again. `racing` is the sentence of a schedule that is known to race.
void note_conflicts(tir::PrimFunc& loops, lowering::LoopsToProve which,
                    const lowering::PassOptions& options,
                    const std::optional<std::string>& racing = std::nullopt);

/// Throws LowerError with both accesses for a parallel or vectorized loop whose iterations are not
/// proved independent: as noted, or found now.
void refuse_conflicts(const tir::PrimFunc& func, const lowering::PassOptions& options);

}  // namespace tenon
