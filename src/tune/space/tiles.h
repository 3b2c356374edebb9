// Multi-level tiling, shared by the rules for CPUs, devices and intrinsics.
#pragma once

#include <string>
#include <vector>

#include "tenon/s_tir/schedule.h"

namespace tenon::tune {

/// A tiled schedule, and the loops of each tile level. The loops of a level are listed from the
/// outermost to the innermost.
struct Tiled {
  s_tir::Schedule sch;
  std::vector<std::vector<s_tir::LoopRV>> levels;
};

/// Tiles the loops around the block. `structure` lists the kinds of the tile levels (S: spatial, R:
/// reduction). Each loop is split once per level of its kind, and the parts are reordered by level.
/// The factors are sampled.
Tiled tiled(const s_tir::Schedule& sch, s_tir::BlockRV block, const std::string& structure,
            int max_innermost_factor);

/// A nest whose reduction loops have been fused into one loop inside the spatial loops.
struct FusedReduction {
  s_tir::LoopRV loop;
  int spatial_loops;
};
FusedReduction fused_reduction(s_tir::Schedule& sch, s_tir::BlockRV block);

/// Tensorizes the block. If the block has an init, the init is separated first. Throws
/// ScheduleError if the intrinsic does not compute the block.
void compute_by_intrinsic(s_tir::Schedule& sch, s_tir::BlockRV block, const std::string& intrinsic);

}  // namespace tenon::tune
