// Loops marked vectorised become vector statements, lane by lane the same: the loop's variable is a
// ramp.
//
//   for (i, 0, 8) "vectorized" { B[((o*8) + i)] = (A[i] + 1f32) }
//   B[ramp((o*8), 1, 8)] = (A[ramp(0, 1, 8)] + broadcast(1f32, 8))
//
// As in Halide (Ragan-Kelley et al., PLDI 2013). What has no meaning by lanes is done by a serial
// loop `i.s` around the smallest statement that holds it: a branch that differs between lanes, a
// call of a C function, ... An if_then_else becomes a select, which never faults: its lanes
// evaluate the side that they choose (guard_choices).
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// With options.disable_vectorize the loops become serial ones. Of nested vectorised loops the
/// innermost is done by lanes, the others serially. A loop of symbolic extent: see loop_extent.h.
/// Throws LowerError for it.
tir::PrimFunc vectorize_loops(const tir::PrimFunc& func, const PassOptions& options);
/// Vectorizes as in TVM 0.9 text: an if_then_else that differs between lanes is serial as well.
tir::PrimFunc vectorize_loops_as_text(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
