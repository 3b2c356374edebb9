#include <algorithm>

#include "tenon/s_tir/trace_steps.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tenon/tune/rules.h"
#include "tune/search/tried.h"
#include "tune/space/block_facts.h"
#include "tune/space/tiles.h"

namespace tenon::tune {

namespace {

using s_tir::BlockRV;
using s_tir::LoopRV;
using s_tir::Schedule;

/// Whether the consumer is elementwise. It can then write back the results, so that a write cache
/// is unnecessary.
bool passes_results_on(const Schedule& sch, BlockRV consumer) {
  return is_elementwise(*sch.get(consumer).block);
}

/// Returns one design per level: `writer` is computed at that level, and `block`'s buffer collects
/// the results until then.
std::vector<Schedule> with_writer(const Tiled& own, BlockRV writer, const TilingOptions& options) {
  std::vector<Schedule> designs;
  for (auto level = options.write_reuse_levels.rbegin(); level != options.write_reuse_levels.rend();
       ++level) {
    const auto& loops = own.levels[static_cast<std::size_t>(*level - 1)];
    if (loops.empty()) continue;
    if (auto done = tried(own.sch, [&](Schedule& sch) {
          sch.reverse_compute_at(writer, loops.back(), {.preserve_unit_loops = true});
        }))
      designs.push_back(std::move(*done));
  }
  return designs;
}

std::vector<Schedule> with_write_reuse(Tiled own, BlockRV block, const TilingOptions& options) {
  if (options.write_reuse_levels.empty()) return {own.sch};
  const std::vector<BlockRV> consumers = own.sch.get_consumers(block);
  const Schedule plain = own.sch;
  std::vector<Schedule> designs;
  if (consumers.size() == 1 && passes_results_on(own.sch, consumers.front())) {
    designs = with_writer(own, consumers.front(), options);
  } else if (auto cached = tried(
                 own.sch, [&](Schedule& sch) { sch.cache_write(block, 0, options.write_scope); })) {
    // The new block is the only reader of the buffer that the block now writes.
    const BlockRV writer(cached->trace().steps.back().outputs.front().number);
    designs = with_writer({*cached, own.levels}, writer, options);
  }
  designs.push_back(plain);
  return designs;
}

std::int64_t bytes_of(const tir::Buffer& buffer) {
  std::int64_t bytes = buffer->dtype.bytes();
  for (const tir::Expr& extent : buffer->shape) bytes *= tir::constant_int(extent).value_or(1);
  return bytes;
}

/// Whether the last dimension of the buffer is indexed by spatial iterators and another one by
/// reduction iterators, so that the rows of a tile are far from each other in memory.
bool has_scattered_rows(const tir::Block& block, const tir::BufferRegion& read) {
  const auto uses = [&](const tir::Range& range, tir::IterKind kind) {
    return std::any_of(block.iters.begin(), block.iters.end(), [&](const tir::IterVar& iter) {
      return iter.kind() == kind && tir::uses_var(range.min, iter.var());
    });
  };
  return read.region.size() > 1 && uses(read.region.back(), tir::IterKind::DataParallel) &&
         std::any_of(read.region.begin(), read.region.end() - 1,
                     [&](const tir::Range& range) { return uses(range, tir::IterKind::Reduce); });
}

/// Returns the design with large inputs packed below the level. Nullopt if no input is packed.
std::optional<Schedule> with_read_reuse(const Schedule& design, BlockRV block,
                                        const std::vector<LoopRV>& level,
                                        std::int64_t cache_bytes) {
  if (level.empty()) return std::nullopt;
  std::optional<Schedule> result;
  const tir::BlockRealize realize = design.get(block);
  const std::vector<tir::BufferRegion>& reads = realize.block->reads;
  for (std::size_t n = 0; n < reads.size(); ++n) {
    if (bytes_of(reads[n].buffer) <= cache_bytes || !has_scattered_rows(*realize.block, reads[n]))
      continue;
    auto done = tried(result.value_or(design), [&](Schedule& sch) {
      const BlockRV copy = sch.cache_read(block, static_cast<int>(n), "global");
      sch.compute_at(copy, level.back(), {.preserve_unit_loops = true});
    });
    if (done) result = std::move(done);
  }
  return result;
}

}  // namespace

ScheduleRule multi_level_tiling(const TilingOptions& options) {
  return {"multi_level_tiling",
          [options](const Schedule& sch, BlockRV block, const Target& target) {
            if (is_root(sch, block) || !reuses_data(sch, block)) return std::vector{sch};
            const Tiled own = tiled(sch, block, options.structure, options.max_innermost_factor);
            std::vector<Schedule> designs = with_write_reuse(own, block, options);
            if (!options.read_reuse_level) return designs;
            const auto& level = own.levels[static_cast<std::size_t>(*options.read_reuse_level - 1)];
            const std::size_t count = designs.size();
            for (std::size_t n = 0; n < count; ++n)
              if (auto done = with_read_reuse(designs[n], block, level, target.facts().caches.l2))
                designs.push_back(std::move(*done));
            return designs;
          }};
}

}  // namespace tenon::tune
