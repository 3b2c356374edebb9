#include "tenon/tune/rules.h"
#include "tune/search/tried.h"
#include "tune/space/block_facts.h"
#include "tune/space/tiles.h"

namespace tenon::tune {

namespace {

using s_tir::BlockRV;
using s_tir::LoopRV;
using s_tir::Schedule;

/// Whether the block is a reduction with fewer independent elements than jobs. If data is reused,
/// which makes tiling an alternative, there must also be fewer elements than terms per element.
bool is_worth_it(const Schedule& sch, BlockRV block, double jobs) {
  const tir::BlockRealize realize = sch.get(block);
  if (!realize.block->init || realize.block->writes.size() != 1) return false;
  const Lengths lengths = lengths_of(*realize.block);
  if (lengths.reduction <= 1 || !is_trivially_bound(sch, block)) return false;
  if (reuses_data(sch, block))
    return lengths.spatial < lengths.reduction && lengths.spatial <= jobs;
  return lengths.spatial < jobs;
}

}  // namespace

ScheduleRule add_rfactor(const RFactorOptions& options) {
  return {"add_rfactor", [options](const Schedule& sch, BlockRV block, const Target& target) {
            const double jobs =
                static_cast<double>(options.max_jobs_per_core) * target.facts().cores;
            std::vector<Schedule> designs = {sch};
            if (is_root(sch, block) || !is_worth_it(sch, block, jobs)) return designs;
            for (const std::size_t part : {0u, 1u})
              if (auto done = tried(sch, [&](Schedule& own) {
                    const FusedReduction fused = fused_reduction(own, block);
                    const auto factors = own.sample_perfect_tile(
                        fused.loop, {.n = 2, .max_innermost_factor = options.max_innermost_factor});
                    const std::vector<LoopRV> parts = own.split(fused.loop, factors);
                    own.rfactor(parts[part], fused.spatial_loops);
                  }))
                designs.push_back(std::move(*done));
            return designs;
          }};
}

}  // namespace tenon::tune
