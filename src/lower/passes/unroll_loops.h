// Loops marked unrolled, and small serial ones where a pragma or the options ask for it, become
// their iterations.
//
//   for (i, 0, 2) "unroll" { B[i] = A[i] }        becomes        B[0] = A[0]  B[1] = A[1]
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// A serial loop of constant extent is unrolled by itself if it holds at most auto_max_depth
/// unrolled ones and no other loop, and its iterations times the stores and calls of its body are
/// at most auto_max_step, or its extent at most auto_max_extent. Pragmas "auto_unroll_max_step" and
/// "unroll_explicit" set options for their body, and go. With explicit_unroll off, loops are only
/// marked, and left to the back end. Throws LowerError for a marked loop of symbolic extent (see
/// loop_extent.h), and past unroll.max_statements copies.
tir::PrimFunc unroll_loops(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
