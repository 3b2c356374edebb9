// Multi-level tiling and other steps that the rules for CPUs, devices and intrinsics share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tenon/s_tir/schedule.h"

namespace tenon::tune {

/// The loops of each tile level. The loops of a level are listed from the outermost to the
/// innermost.
using TileLevels = std::vector<std::vector<s_tir::LoopRV>>;

/// Tiles the loops around the block. `structure` lists the kinds of the tile levels (S: spatial, R:
/// reduction). Each loop is split once per level of its kind, and the parts are reordered by level.
/// The factors are sampled.
TileLevels tile(s_tir::Schedule& sch, s_tir::BlockRV block, const std::string& structure,
                int max_innermost_factor);

/// Fuses the reduction loops around the block into one loop inside the spatial loops. Returns that
/// loop and the number of spatial loops.
std::pair<s_tir::LoopRV, int> fuse_reduction(s_tir::Schedule& sch, s_tir::BlockRV block);

/// Samples one of the candidates, all with the same probability.
s_tir::ExprRV sample_uniform(s_tir::Schedule& sch, const std::vector<std::int64_t>& candidates);

/// Tensorizes the block. If the block has an init, the init is separated first. Throws
/// ScheduleError if the intrinsic does not compute the block.
void compute_by_intrinsic(s_tir::Schedule& sch, s_tir::BlockRV block, const std::string& intrinsic);

}  // namespace tenon::tune
