#include "tenon/tune/rules.h"
#include "tune/search/tried.h"
#include "tune/space/block_facts.h"
#include "tune/space/tiles.h"

namespace tenon::tune {

namespace {

using s_tir::BlockRV;
using s_tir::LoopRV;
using s_tir::Schedule;

/// Whether sums are longer than a warp. If data is reused, which makes tiling an alternative, the
/// condition is instead that there are fewer elements than terms per element, and at most as many
/// elements as threads in a block.
bool is_worth_it(const Schedule& sch, BlockRV block, const tir::TargetFacts& target) {
  constexpr double kWarp = 32;
  const tir::BlockRealize realize = sch.get(block);
  if (!realize.block->init || realize.block->writes.size() != 1) return false;
  if (!is_trivially_bound(sch, block)) return false;
  const Lengths lengths = lengths_of(*realize.block);
  if (reuses_data(sch, block))
    return lengths.spatial < lengths.reduction && lengths.spatial <= target.max_threads_per_block;
  return lengths.reduction > kWarp;
}

}  // namespace

ScheduleRule cross_thread_reduction(const CrossThreadOptions& options) {
  return {"cross_thread_reduction",
          [options](const Schedule& sch, BlockRV block, const Target& target) {
            std::vector<Schedule> designs = {sch};
            if (is_root(sch, block) || !is_worth_it(sch, block, target.facts())) return designs;
            std::vector<std::int64_t> extents;
            for (const std::int64_t extent : options.thread_extents)
              if (extent <= target.facts().max_threads_per_block) extents.push_back(extent);
            if (extents.empty()) return designs;
            if (auto done = tried(sch, [&](Schedule& own) {
                  const LoopRV terms = fused_reduction(own, block).loop;
                  const s_tir::ExprRV threads = own.sample_categorical(
                      extents, std::vector<double>(extents.size(),
                                                   1.0 / static_cast<double>(extents.size())));
                  const std::vector<LoopRV> parts = own.split(terms, {std::nullopt, threads});
                  own.bind(parts[1], "threadIdx.x");
                }))
              designs.push_back(std::move(*done));
            return designs;
          }};
}

}  // namespace tenon::tune
