// Multi-level tiling, shared by the rules for CPUs, devices and intrinsics.
#pragma once

#include <string>
#include <vector>

#include "tenon/s_tir/schedule.h"

namespace tenon::tune {

/// A tiled schedule, and the loops of each level; within a level, outermost first.
struct Tiled {
  s_tir::Schedule sch;
  std::vector<std::vector<s_tir::LoopRV>> levels;
};

/// Splits each loop around the block into as many parts as `structure` has levels of its kind (S:
/// spatial, R: reduction), and reorders the parts accordingly. The factors are sampled.
Tiled tiled(const s_tir::Schedule& sch, s_tir::BlockRV block, const std::string& structure,
            int max_innermost_factor);

/// The fused reduction loops, inside the spatial loops.
struct FusedReduction {
  s_tir::LoopRV loop;
  int spatial_loops;
};
FusedReduction fused_reduction(s_tir::Schedule& sch, s_tir::BlockRV block);

/// Tensorizes the block. If the block has an init, a separate block is made for it first. Throws
/// ScheduleError if the intrinsic computes something else.
void compute_by_intrinsic(s_tir::Schedule& sch, s_tir::BlockRV block, const std::string& intrinsic);

}  // namespace tenon::tune
