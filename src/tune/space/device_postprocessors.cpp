// The postprocessors for candidates on devices.
#include <algorithm>

#include "tenon/driver/lower.h"
#include "tenon/lower/pipeline.h"
#include "tenon/lower/split_kernels.h"
#include "tenon/tir/ops.h"
#include "tenon/tir/walk.h"
#include "tenon/tune/postprocessors.h"
#include "tune/search/mutate.h"
#include "tune/space/block_facts.h"

namespace tenon::tune {

namespace {

using s_tir::BlockRV;
using s_tir::LoopRV;
using s_tir::Schedule;

std::optional<tir::ThreadTag> thread_of(const Schedule& sch, LoopRV loop) {
  return tir::traits_of(sch.get(loop)).thread;
}

/// Returns the extent of the enclosing loop that is bound to threadIdx.x; 1 if there is no such
/// loop.
std::int64_t threads_around(const Schedule& sch, const std::vector<LoopRV>& loops) {
  for (const LoopRV loop : loops)
    if (const auto thread = thread_of(sch, loop); thread && thread->str() == "threadIdx.x")
      return extent_of(sch.get(loop));
  return 1;
}

std::vector<std::pair<std::string, std::int64_t>> fetches(const Schedule& sch) {
  std::vector<std::pair<std::string, std::int64_t>> found;
  tir::walk(sch.mod().functions.begin()->second.body, [&](const tir::BlockRealize& realize) {
    const tir::Annotations& noted = realize.block->annotations;
    if (const auto note = noted.find(kCooperativeFetchKey); note != noted.end())
      found.emplace_back(realize.block->name, tir::annotation_int(note->second).value_or(1));
  });
  return found;
}

/// Distributes the loop of a copy over all threads. Each thread copies a vector of `length`
/// elements at a time if `length` divides the extent.
void share(Schedule& sch, BlockRV copy, std::int64_t length) {
  sch.unannotate(copy, kCooperativeFetchKey);
  const std::vector<LoopRV> loops = sch.get_loops(copy);
  const std::int64_t threads = threads_around(sch, loops),
                     elements = extent_of(sch.get(loops.back()));
  if (length > 1 && elements % length == 0) {
    const auto parts = sch.split(loops.back(), {std::nullopt, threads, length});
    sch.bind(parts[1], "threadIdx.x");
    sch.vectorize(parts[2]);
  } else {
    sch.bind(sch.split(loops.back(), {std::nullopt, threads})[1], "threadIdx.x");
  }
}

/// Binds the unbound spatial loops of a nest to blocks, and to threads if the nest has none.
void bind_nest(Schedule& sch, BlockRV block, std::int64_t most_threads) {
  const std::vector<LoopRV> loops = sch.get_loops(block);
  bool has_blocks = false, has_threads = false;
  for (const LoopRV loop : loops)
    if (const auto thread = thread_of(sch, loop))
      (thread->is_block() ? has_blocks : has_threads) = true;
  if (has_blocks) return;
  const tir::BlockRealize realize = sch.get(block);
  std::vector<LoopRV> spatial;
  for (const LoopRV loop : loops) {
    if (thread_of(sch, loop) || class_of(realize, sch.get(loop)) != LoopClass::Spatial) break;
    spatial.push_back(loop);
  }
  if (spatial.empty()) {
    if (has_threads) return;
    throw ScheduleError("block `" + realize.block->name +
                        "` has no loop of independent elements that could be bound to threads");
  }
  const LoopRV fused = sch.fuse(spatial);
  if (has_threads) return sch.bind(fused, "blockIdx.x");
  const std::int64_t threads = std::min(most_threads, extent_of(sch.get(fused)));
  const auto parts = sch.split(fused, {std::nullopt, threads});
  sch.bind(parts[0], "blockIdx.x");
  sch.bind(parts[1], "threadIdx.x");
}

}  // namespace

Postprocessor rewrite_cooperative_fetches() {
  return {"rewrite_cooperative_fetches", [](Schedule& sch, const Target&) {
            for (const auto& [name, length] : fetches(sch))
              share(sch, sch.get_block(name, function_name(sch)), length);
          }};
}

Postprocessor rewrite_unbound_blocks() {
  return {"rewrite_unbound_blocks", [](Schedule& sch, const Target& target) {
            constexpr std::int64_t kUsual = 256;
            const std::int64_t threads =
                std::min<std::int64_t>(kUsual, target.facts().max_threads_per_block);
            const BlockRV root = sch.get_block("root", function_name(sch));
            for (const BlockRV block : sch.get_child_blocks(root)) bind_nest(sch, block, threads);
          }};
}

Postprocessor verify_device_program() {
  return {"verify_device_program", [](Schedule& sch, const Target& target) {
            try {
              for (const auto& [name, func] : sch.mod().functions)
                for (const auto& [lowered_name, lowered] : lower(func).functions)
                  lowering::split_kernels(lowering::run_passes(lowering::device_passes(), lowered),
                                          target.facts());
            } catch (const LowerError& error) {
              throw ScheduleError(error.sentence());
            }
          }};
}

}  // namespace tenon::tune
