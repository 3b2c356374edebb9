// Tiles of several levels, of which the rules for processors, for devices and for intrinsics are
// made.
#pragma once

#include <string>
#include <vector>

#include "tenon/s_tir/schedule.h"

namespace tenon::tune {

/// A schedule that is tiled, and the loops of each level, outermost first.
struct Tiled {
  s_tir::Schedule sch;
  std::vector<std::vector<s_tir::LoopRV>> levels;
};

/// The loops around the block, cut into as many parts as the structure has levels of their kind (S:
/// independent elements, R: the reduction), and in its order; how large the parts are is sampled.
Tiled tiled(const s_tir::Schedule& sch, s_tir::BlockRV block, const std::string& structure,
            int max_innermost_factor);

/// The loop that all loops of the reduction are fused to, below those of independent elements.
struct FusedReduction {
  s_tir::LoopRV loop;
  int spatial_loops;
};
FusedReduction fused_reduction(s_tir::Schedule& sch, s_tir::BlockRV block);

/// What the block does is done by the intrinsic; where it starts sums, a block of its own does that
/// in front. ScheduleError: the intrinsic computes something else.
void compute_by_intrinsic(s_tir::Schedule& sch, s_tir::BlockRV block, const std::string& intrinsic);

}  // namespace tenon::tune
