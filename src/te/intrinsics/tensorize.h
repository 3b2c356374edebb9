// The statements of a stage that a tensor intrinsic computes: one that is tensorized at a loop,
// where the intrinsic stands for that loop and all inside of it, or an operation on regions, whose
// innermost statement it is.
//
//   for (i, 0, 64) for (j.outer, 0, 4) for (j.inner, 0, 16) C[i, j] = A[i, j] + B[i, j]
//   -> for (i, 0, 64) for (j.outer, 0, 4) vadd(C[i, j.outer*16 ...], A[...], B[...])
//
// Where the loop does not divide its axis, the last part is smaller than the intrinsic: it keeps
// its loops.
//
//   -> for (j.outer, 0, 5) if (likely(j.outer*16 + 15 < 70)) vadd(...) else for (j.inner, 0, 16) if (...) ...
#pragma once

#include "te/loops/compute_nest.h"

namespace tenon::te {

bool calls_intrinsic(const FrozenStage& stage);

struct IntrinsicBody {
  /// So many of the outermost loops remain.
  std::size_t depth;
  /// Inside of all of them, guards included.
  Stmt main;
  /// Where loops of a reduction remain and the intrinsic has a reset: what stands in front of them.
  std::optional<Stmt> init;
};

/// ScheduleError, with the line of tensorize, where the intrinsic does not compute what it is to
/// replace, or cannot be called there.
IntrinsicBody make_intrinsic_body(StageId stage, const Program& program, const ComputeNest& nest);

}  // namespace tenon::te
