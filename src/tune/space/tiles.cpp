#include "tune/space/tiles.h"

#include <algorithm>

#include "tune/space/block_facts.h"

namespace tenon::tune {

using s_tir::LoopRV;
using s_tir::Schedule;

Tiled tiled(const Schedule& sch, s_tir::BlockRV block, const std::string& structure,
            int max_innermost_factor) {
  std::vector<std::size_t> spatial_levels, reduction_levels;
  for (std::size_t n = 0; n < structure.size(); ++n)
    (structure[n] == 'R' ? reduction_levels : spatial_levels).push_back(n);
  Tiled result{sch, std::vector<std::vector<LoopRV>>(structure.size())};
  result.sch.annotate(block, "meta_schedule.tiling_structure", structure);
  const std::vector<LoopRV> loops = result.sch.get_loops(block);
  const tir::BlockRealize realize = result.sch.get(block);
  for (const LoopRV loop : loops) {
    const bool is_reduction = class_of(realize, result.sch.get(loop)) == LoopClass::Reduction;
    const std::vector<std::size_t>& levels = is_reduction ? reduction_levels : spatial_levels;
    if (levels.size() == 1) {
      result.levels[levels.front()].push_back(loop);
      continue;
    }
    const auto factors = result.sch.sample_perfect_tile(
        loop, {.n = static_cast<int>(levels.size()), .max_innermost_factor = max_innermost_factor});
    const std::vector<LoopRV> parts = result.sch.split(loop, factors);
    for (std::size_t n = 0; n < levels.size(); ++n) result.levels[levels[n]].push_back(parts[n]);
  }
  std::vector<LoopRV> order;
  for (const std::vector<LoopRV>& level : result.levels)
    order.insert(order.end(), level.begin(), level.end());
  result.sch.reorder(order);
  return result;
}

FusedReduction fused_reduction(Schedule& sch, s_tir::BlockRV block) {
  std::vector<LoopRV> spatial, reduction;
  const std::vector<LoopRV> loops = sch.get_loops(block);
  const tir::BlockRealize realize = sch.get(block);
  for (const LoopRV loop : loops)
    (class_of(realize, sch.get(loop)) == LoopClass::Reduction ? reduction : spatial)
        .push_back(loop);
  std::vector<LoopRV> order = spatial;
  order.insert(order.end(), reduction.begin(), reduction.end());
  if (order.size() > 1) sch.reorder(order);
  return {sch.fuse(reduction), static_cast<int>(spatial.size())};
}

void compute_by_intrinsic(Schedule& sch, s_tir::BlockRV block, const std::string& intrinsic) {
  if (sch.get(block).block->init) sch.decompose_reduction(block, sch.get_loops(block).back());
  sch.tensorize(block, intrinsic);
}

}  // namespace tenon::tune
