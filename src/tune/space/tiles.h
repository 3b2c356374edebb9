// Multi-level tiling, shared by the rules for CPUs, devices and intrinsics.
#pragma once

#include <string>
#include <vector>

#include "tenon/s_tir/schedule.h"

namespace tenon::tune {

/// A tiled schedule, and the loops of each level, outermost first.
struct Tiled {
  s_tir::Schedule sch;
  std::vector<std::vector<s_tir::LoopRV>> levels;
};

/// Splits the loops around the block into as many parts as the structure has levels of their kind
/// (S: independent elements, R: the reduction), and reorders them accordingly. The sizes are
/// sampled.
Tiled tiled(const s_tir::Schedule& sch, s_tir::BlockRV block, const std::string& structure,
            int max_innermost_factor);

/// The fused reduction loop, below the loops of independent elements.
struct FusedReduction {
  s_tir::LoopRV loop;
  int spatial_loops;
};
FusedReduction fused_reduction(s_tir::Schedule& sch, s_tir::BlockRV block);

/// Tensorizes the block. If it begins sums, a separate block initializes them before. ScheduleError
/// if the intrinsic computes something else.
void compute_by_intrinsic(s_tir::Schedule& sch, s_tir::BlockRV block, const std::string& intrinsic);

}  // namespace tenon::tune
