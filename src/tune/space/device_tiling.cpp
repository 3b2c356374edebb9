#include <algorithm>

#include "tenon/tune/rules.h"
#include "tune/search/mutate.h"
#include "tune/search/tried.h"
#include "tune/space/block_facts.h"
#include "tune/space/tiles.h"

namespace tenon::tune {

namespace {

using s_tir::BlockRV;
using s_tir::LoopRV;
using s_tir::Schedule;

/// Fuses the loops of each of the outer levels and binds them to the thread axes.
void bind_levels(Tiled& own, const std::vector<std::string>& thread_axes) {
  for (std::size_t n = 0; n < thread_axes.size(); ++n) {
    std::vector<LoopRV>& loops = own.levels[n];
    const LoopRV fused = own.sch.fuse(loops);
    own.sch.bind(fused, thread_axes[n]);
    loops = {fused};
  }
}

/// Keeps sums in local memory until they are complete, and fuses elementwise consumers into the
/// write-back.
void keep_sums(Schedule& sch, BlockRV block, LoopRV thread) {
  const BlockRV writer = sch.cache_write(block, 0, "local");
  const std::vector<BlockRV> readers = sch.get_consumers(writer);
  if (readers.size() == 1)
    if (auto done = tried(sch, [&](Schedule& s) { s.reverse_compute_inline(readers.front()); }))
      sch = std::move(*done);
  sch.reverse_compute_at(writer, thread, {.preserve_unit_loops = true});
}

/// Makes the threads of a block copy the elements of each input that they all need, in vectors of a
/// sampled length.
void share_inputs(Schedule& sch, BlockRV block, LoopRV at,
                  const std::vector<std::int64_t>& vector_loads) {
  const tir::BlockRealize realize = sch.get(block);
  const std::vector<double> alike(vector_loads.size(),
                                  1.0 / static_cast<double>(vector_loads.size()));
  for (std::size_t n = 0; n < realize.block->reads.size(); ++n) {
    const tir::BufferRegion& read = realize.block->reads[n];
    if (read.buffer.get() == realize.block->writes.front().buffer.get()) continue;
    const BlockRV copy = sch.cache_read(block, static_cast<int>(n), "shared");
    sch.compute_at(copy, at, {.preserve_unit_loops = true});
    const std::vector<LoopRV> loops = sch.get_loops(copy);
    sch.fuse({loops.end() - static_cast<std::ptrdiff_t>(read.region.size()), loops.end()});
    const s_tir::ExprRV length = sch.sample_categorical(vector_loads, alike);
    sch.annotate(copy, kCooperativeFetchKey, length);
  }
}

}  // namespace

ScheduleRule device_tiling(const DeviceTilingOptions& options) {
  return {"device_tiling", [options](const Schedule& sch, BlockRV block, const Target&) {
            if (is_root(sch, block) || !reuses_data(sch, block)) return std::vector{sch};
            const auto made = tried(sch, [&](Schedule& result) {
              Tiled own = tiled(sch, block, options.structure, options.max_innermost_factor);
              bind_levels(own, options.thread_axes);
              keep_sums(own.sch, block, own.levels[options.thread_axes.size() - 1].front());
              const auto& shared_level =
                  own.levels[static_cast<std::size_t>(options.read_reuse_level - 1)];
              if (!shared_level.empty())
                share_inputs(own.sch, block, shared_level.back(), options.vector_loads);
              result = std::move(own.sch);
            });
            return std::vector{made.value_or(sch)};
          }};
}

}  // namespace tenon::tune
