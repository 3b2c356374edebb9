// The statements of a stage that calls a tensor intrinsic: a tensorized stage, where the call
// replaces a loop and all loops inside it, or an operation on regions, whose innermost statement is
// the call.
//
//   for (i, 0, 64) for (j.outer, 0, 4) for (j.inner, 0, 16) C[i, j] = A[i, j] + B[i, j]
//   -> for (i, 0, 64) for (j.outer, 0, 4) vadd(C[i, j.outer*16 ...], A[...], B[...])
//
// If the loop does not divide its axis, the tail is smaller than the intrinsic and keeps its loops.
//
//   -> for (j.outer, 0, 5) if (likely(j.outer*16 + 15 < 70)) vadd(...) else for (j.inner, 0, 16) if (...) ...
#pragma once

#include "te/loops/compute_nest.h"

namespace tenon::te {

bool calls_intrinsic(const FrozenStage& stage);

struct IntrinsicBody {
  /// The number of outermost loops that remain.
  std::size_t depth;
  /// The statement inside all of these loops, guards included.
  Stmt main;
  /// The statement before the remaining loops of a reduction, if the intrinsic has a reset.
  std::optional<Stmt> init;
};

/// ScheduleError, with the line of tensorize, if the intrinsic does not compute what it is to
/// replace, or cannot be called there.
IntrinsicBody make_intrinsic_body(StageId stage, const Program& program, const ComputeNest& nest);

}  // namespace tenon::te
