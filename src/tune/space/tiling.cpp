#include "tune/space/tiles.h"

#include <algorithm>

#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/s_tir/trace_steps.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tenon/tune/rules.h"
#include "tune/search/mutate.h"
#include "tune/search/tried.h"
#include "tune/space/block_facts.h"

namespace tenon::tune {

// ---- tiles --------------------------------------------------------------------------------------

using s_tir::LoopRV;
using s_tir::Schedule;

TileLevels tile(Schedule& sch, s_tir::BlockRV block, const std::string& structure,
                int max_innermost_factor) {
  std::vector<std::size_t> spatial_levels, reduction_levels;
  for (std::size_t n = 0; n < structure.size(); ++n)
    (structure[n] == 'R' ? reduction_levels : spatial_levels).push_back(n);
  TileLevels result(structure.size());
  sch.annotate(block, "meta_schedule.tiling_structure", structure);
  const std::vector<LoopRV> loops = sch.get_loops(block);
  const tir::BlockRealize realize = sch.get(block);
  for (const LoopRV loop : loops) {
    const bool is_reduction = kind_of(realize, sch.get(loop)) == tir::IterKind::Reduce;
    const std::vector<std::size_t>& levels = is_reduction ? reduction_levels : spatial_levels;
    if (levels.size() == 1) {
      result[levels.front()].push_back(loop);
      continue;
    }
    const auto factors = sch.sample_perfect_tile(
        loop, {.n = static_cast<int>(levels.size()), .max_innermost_factor = max_innermost_factor});
    const std::vector<LoopRV> parts = sch.split(loop, factors);
    for (std::size_t n = 0; n < levels.size(); ++n) result[levels[n]].push_back(parts[n]);
  }
  std::vector<LoopRV> order;
  for (const std::vector<LoopRV>& level : result)
    order.insert(order.end(), level.begin(), level.end());
  sch.reorder(order);
  return result;
}

std::pair<LoopRV, int> fuse_reduction(Schedule& sch, s_tir::BlockRV block) {
  std::vector<LoopRV> spatial, reduction;
  const std::vector<LoopRV> loops = sch.get_loops(block);
  const tir::BlockRealize realize = sch.get(block);
  for (const LoopRV loop : loops)
    (kind_of(realize, sch.get(loop)) == tir::IterKind::Reduce ? reduction : spatial)
        .push_back(loop);
  std::vector<LoopRV> order = spatial;
  order.insert(order.end(), reduction.begin(), reduction.end());
  if (order.size() > 1) sch.reorder(order);
  return {sch.fuse(reduction), static_cast<int>(spatial.size())};
}

s_tir::ExprRV sample_uniform(Schedule& sch, const std::vector<std::int64_t>& candidates) {
  const auto count = candidates.size();
  return sch.sample_categorical(candidates,
                                std::vector<double>(count, 1.0 / static_cast<double>(count)));
}

void compute_by_intrinsic(Schedule& sch, s_tir::BlockRV block, const std::string& intrinsic) {
  if (sch.get(block).block->init) sch.decompose_reduction(block, sch.get_loops(block).back());
  sch.tensorize(block, intrinsic);
}

// ---- multi_level_tiling -------------------------------------------------------------------------

namespace {

using s_tir::BlockRV;

/// Whether the consumer is elementwise. It can then be fused as the write-back of the results, and
/// a write cache is unnecessary.
bool passes_results_on(const Schedule& sch, BlockRV consumer) {
  return is_elementwise(*sch.get(consumer).block);
}

/// Returns one design per write-back level: `writer` is computed at the end of that level's tile.
/// `block` accumulates its results in its own buffer until then.
std::vector<Schedule> with_writer(const Schedule& tiled, const TileLevels& levels, BlockRV writer,
                                  const TilingOptions& options) {
  std::vector<Schedule> designs;
  for (auto level = options.write_reuse_levels.rbegin(); level != options.write_reuse_levels.rend();
       ++level) {
    const auto& loops = levels[static_cast<std::size_t>(*level - 1)];
    if (loops.empty()) continue;
    if (auto done = tried(tiled, [&](Schedule& sch) {
          sch.reverse_compute_at(writer, loops.back(), {.preserve_unit_loops = true});
        }))
      designs.push_back(std::move(*done));
  }
  return designs;
}

std::vector<Schedule> with_write_reuse(Schedule tiled, const TileLevels& levels, BlockRV block,
                                       const TilingOptions& options) {
  if (options.write_reuse_levels.empty()) return {tiled};
  const std::vector<BlockRV> consumers = tiled.get_consumers(block);
  std::vector<Schedule> designs;
  if (consumers.size() == 1 && passes_results_on(tiled, consumers.front())) {
    designs = with_writer(tiled, levels, consumers.front(), options);
  } else if (auto cached = tried(
                 tiled, [&](Schedule& sch) { sch.cache_write(block, 0, options.write_scope); })) {
    // The new block is the only reader of the buffer that the block now writes.
    const BlockRV writer(cached->trace().steps.back().outputs.front().number);
    designs = with_writer(*cached, levels, writer, options);
  }
  designs.push_back(tiled);
  return designs;
}

std::int64_t bytes_of(const tir::Buffer& buffer) {
  std::int64_t bytes = buffer->dtype.bytes();
  for (const tir::Expr& extent : buffer->shape) bytes *= tir::constant_int(extent).value_or(1);
  return bytes;
}

/// Whether spatial iterators index the last dimension of the buffer, and reduction iterators index
/// another dimension. The rows of a tile are then far from each other in memory.
bool has_scattered_rows(const tir::Block& block, const tir::BufferRegion& read) {
  const auto uses = [&](const tir::Range& range, tir::IterKind kind) {
    return std::ranges::any_of(block.iters, [&](const tir::IterVar& iter) {
      return iter.kind() == kind && tir::uses_var(range.min, iter.var());
    });
  };
  return read.region.size() > 1 && uses(read.region.back(), tir::IterKind::DataParallel) &&
         std::any_of(read.region.begin(), read.region.end() - 1,
                     [&](const tir::Range& range) { return uses(range, tir::IterKind::Reduce); });
}

/// Returns the design in which large inputs are packed inside the loops of the level. Nullopt if no
/// input is packed.
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
  return {
      "multi_level_tiling", [options](const Schedule& sch, BlockRV block, const Target& target) {
        if (is_root(sch, block) || !reuses_data(sch, block)) return std::vector{sch};
        Schedule own = sch;
        const TileLevels levels = tile(own, block, options.structure, options.max_innermost_factor);
        std::vector<Schedule> designs = with_write_reuse(own, levels, block, options);
        if (!options.read_reuse_level) return designs;
        const auto& level = levels[static_cast<std::size_t>(*options.read_reuse_level - 1)];
        const std::size_t count = designs.size();
        for (std::size_t n = 0; n < count; ++n)
          if (auto done = with_read_reuse(designs[n], block, level, target.facts().caches.l2))
            designs.push_back(std::move(*done));
        return designs;
      }};
}

// ---- tiles that an intrinsic computes -----------------------------------------------------------

namespace {

/// The extent of a loop, and the kind of the iterators that use it.
using ExtentAndKind = std::pair<std::int64_t, std::optional<tir::IterKind>>;

std::vector<ExtentAndKind> loops_of(const tir::PrimFunc& description) {
  std::vector<const tir::For*> loops;
  const tir::Stmt* inside = &tir::root_block(description.body).body;
  while (const tir::For* loop = inside->as<tir::For>()) {
    loops.push_back(loop);
    inside = &loop->body;
  }
  std::vector<ExtentAndKind> result;
  if (const tir::BlockRealize* realize = inside->as<tir::BlockRealize>())
    for (const tir::For* loop : loops)
      result.push_back({extent_of(*loop), kind_of(*realize, *loop)});
  return result;
}

/// Enumerates mappings from the intrinsic's loops to loops of the block that have the same kind.
/// Inner loops are tried first. Calls `f` with each mapping until it returns true. `chosen` has the
/// loops of the block for all but the first `left` loops of the intrinsic.
template <class F>
bool any_mapping(const std::vector<ExtentAndKind>& wanted,
                 const std::vector<ExtentAndKind>& present, std::vector<std::size_t>& chosen,
                 std::size_t left, const F& f) {
  if (left == 0) return f(chosen);
  const auto& [extent, kind] = wanted[left - 1];
  for (std::size_t n = present.size(); n-- > 0;) {
    const bool is_taken = std::find(chosen.begin() + static_cast<std::ptrdiff_t>(left),
                                    chosen.end(), n) != chosen.end();
    if (is_taken || present[n].second != kind || present[n].first % extent != 0) continue;
    chosen[left - 1] = n;
    if (any_mapping(wanted, present, chosen, left - 1, f)) return true;
  }
  return false;
}

/// Makes a new block of the size of the intrinsic from the inner tile of the chosen loops, and
/// returns it.
BlockRV blockized(Schedule& sch, BlockRV block, const std::vector<ExtentAndKind>& wanted,
                  const std::vector<std::size_t>& chosen) {
  std::vector<LoopRV> outer = sch.get_loops(block), inner;
  for (std::size_t n = 0; n < chosen.size(); ++n) {
    const auto parts = sch.split(outer[chosen[n]], {std::nullopt, wanted[n].first});
    outer[chosen[n]] = parts[0];
    inner.push_back(parts[1]);
  }
  std::vector<LoopRV> order = outer;
  order.insert(order.end(), inner.begin(), inner.end());
  sch.reorder(order);
  return sch.blockize(inner.front());
}

}  // namespace

ScheduleRule tiling_with_intrinsic(const std::string& intrinsic, const std::string& structure,
                                   int max_innermost_factor) {
  return {"tiling_with_intrinsic", [=](const Schedule& sch, BlockRV block, const Target&) {
            std::vector<Schedule> designs = {sch};
            const auto intrin = s_tir::find_tensor_intrin(intrinsic);
            if (!intrin || is_root(sch, block) || !is_trivially_bound(sch, block)) return designs;
            const std::vector<ExtentAndKind> wanted = loops_of(intrin->description);
            std::vector<ExtentAndKind> present;
            Schedule look = sch;
            const tir::BlockRealize realize = look.get(block);
            for (const LoopRV loop : look.get_loops(block))
              present.push_back({extent_of(look.get(loop)), kind_of(realize, look.get(loop))});
            if (wanted.empty()) return designs;
            std::vector<std::size_t> chosen(wanted.size());
            const auto is_found = [&](const std::vector<std::size_t>& mapping) {
              auto design = tried(sch, [&](Schedule& own) {
                const BlockRV inner = blockized(own, block, wanted, mapping);
                Schedule trial = own;
                compute_by_intrinsic(trial, inner, intrinsic);
                own.annotate(inner, kIntrinsicKey, intrinsic);
                tile(own, inner, structure, max_innermost_factor);
              });
              if (design) designs.push_back(std::move(*design));
              return design.has_value();
            };
            any_mapping(wanted, present, chosen, wanted.size(), is_found);
            return designs;
          }};
}

// ---- devices ------------------------------------------------------------------------------------

namespace {

/// Fuses the loops of each outer level, and binds the fused loop to the thread axis of the level.
void bind_levels(Schedule& sch, TileLevels& levels, const std::vector<std::string>& thread_axes) {
  for (std::size_t n = 0; n < thread_axes.size(); ++n) {
    const LoopRV fused = sch.fuse(levels[n]);
    sch.bind(fused, thread_axes[n]);
    levels[n] = {fused};
  }
}

/// Accumulates in local memory, and writes the complete results back. Fuses an elementwise consumer
/// into the write-back.
void keep_sums(Schedule& sch, BlockRV block, LoopRV thread) {
  const BlockRV writer = sch.cache_write(block, 0, "local");
  const std::vector<BlockRV> readers = sch.get_consumers(writer);
  if (readers.size() == 1)
    replaced(sch, [&](Schedule& own) { own.reverse_compute_inline(readers.front()); });
  sch.reverse_compute_at(writer, thread, {.preserve_unit_loops = true});
}

/// Caches each input in shared memory. The threads of a block copy its elements cooperatively, in
/// vectors of a sampled length.
void share_inputs(Schedule& sch, BlockRV block, LoopRV at,
                  const std::vector<std::int64_t>& vector_loads) {
  const tir::BlockRealize realize = sch.get(block);
  for (std::size_t n = 0; n < realize.block->reads.size(); ++n) {
    const tir::BufferRegion& read = realize.block->reads[n];
    if (read.buffer.get() == realize.block->writes.front().buffer.get()) continue;
    const BlockRV copy = sch.cache_read(block, static_cast<int>(n), "shared");
    sch.compute_at(copy, at, {.preserve_unit_loops = true});
    const std::vector<LoopRV> loops = sch.get_loops(copy);
    sch.fuse({loops.end() - static_cast<std::ptrdiff_t>(read.region.size()), loops.end()});
    sch.annotate(copy, kCooperativeFetchKey, sample_uniform(sch, vector_loads));
  }
}

}  // namespace

ScheduleRule device_tiling(const DeviceTilingOptions& options) {
  return {"device_tiling", [options](const Schedule& sch, BlockRV block, const Target&) {
            if (is_root(sch, block) || !reuses_data(sch, block)) return std::vector{sch};
            const auto made = tried(sch, [&](Schedule& own) {
              TileLevels levels = tile(own, block, options.structure, options.max_innermost_factor);
              bind_levels(own, levels, options.thread_axes);
              keep_sums(own, block, levels[options.thread_axes.size() - 1].front());
              const auto& shared_level =
                  levels[static_cast<std::size_t>(options.read_reuse_level - 1)];
              if (!shared_level.empty())
                share_inputs(own, block, shared_level.back(), options.vector_loads);
            });
            return std::vector{made.value_or(sch)};
          }};
}

}  // namespace tenon::tune
