#include "tenon/tune/rules.h"
#include "tune/search/tried.h"
#include "tune/space/block_facts.h"

namespace tenon::tune {

namespace {

using s_tir::BlockRV;
using s_tir::Schedule;

/// Whether the block is spatial, has consumers, and does not share its loops with other blocks.
bool can_move(const Schedule& sch, BlockRV block) {
  Schedule look = sch;
  const tir::BlockRealize realize = look.get(block);
  if (realize.block->init || realize.block->writes.size() != 1) return false;
  for (const tir::IterVar& iter : realize.block->iters)
    if (iter.kind() != tir::IterKind::DataParallel) return false;
  if (look.get_consumers(block).empty()) return false;
  const std::vector<s_tir::LoopRV> loops = look.get_loops(block);
  return !loops.empty() && look.get_child_blocks(loops.front()).size() == 1;
}

}  // namespace

ScheduleRule random_compute_location() {
  return {"random_compute_location", [](const Schedule& sch, BlockRV block, const Target&) {
            if (is_root(sch, block) || !can_move(sch, block)) return std::vector{sch};
            return std::vector{tried(sch, [&](Schedule& own) {
                                 const s_tir::LoopRV loop = own.sample_compute_location(block);
                                 own.compute_at(block, loop, {.preserve_unit_loops = true});
                               }).value_or(sch)};
          }};
}

}  // namespace tenon::tune
