#include "tenon/tune/rules.h"
#include "tenon/s_tir/tensor_intrin.h"
#include "tenon/tir/walk.h"
#include "tune/search/mutate.h"
#include "tune/search/tried.h"
#include "tune/space/block_facts.h"
#include "tune/space/tiles.h"

namespace tenon::tune {

// ---- the default rules --------------------------------------------------------------------------

namespace {

std::vector<ScheduleRule> rules_for_devices() {
  return {inline_constants(), device_tiling(), auto_inline({.into_producer = true}),
          cross_thread_reduction(),
          parallelize_vectorize_unroll({.max_jobs_per_core = 0,
                                        .max_vectorize_extent = 0,
                                        .unroll_max_steps = {0, 16, 64, 512, 1024}})};
}

}  // namespace

std::vector<ScheduleRule> default_rules(const Target& target) {
  if (target.facts().is_gpu()) return rules_for_devices();
  std::vector<ScheduleRule> rules{inline_constants(), auto_inline()};
  for (const std::string& name : s_tir::tensor_intrin_names())
    rules.push_back(tiling_with_intrinsic(name));
  for (const ScheduleRule& rule : {add_rfactor(), multi_level_tiling(),
                                   parallelize_vectorize_unroll(), random_compute_location()})
    rules.push_back(rule);
  return rules;
}

// ---- inlining -----------------------------------------------------------------------------------

namespace {

using s_tir::BlockRV;
using s_tir::Schedule;

/// Whether the expression contains calls, for example of exp, or the condition of a padding.
/// Inlining should not duplicate them.
bool has_calls(const tir::Expr& value) {
  return tir::any_node(value, [](const tir::Call&) { return true; });
}

}  // namespace

ScheduleRule inline_constants() {
  return {"inline_constants", [](const Schedule& sch, BlockRV block, const Target&) {
            if (is_root(sch, block)) return std::vector{sch};
            const tir::BlockRealize realize = sch.get(block);
            const tir::Store* store = realize.block->body.as<tir::Store>();
            const bool is_constant = store && realize.block->iters.empty() &&
                                     realize.block->reads.empty() && !realize.block->init;
            if (!is_constant) return std::vector{sch};
            return std::vector{
                tried(sch, [&](Schedule& own) { own.compute_inline(block); }).value_or(sch)};
          }};
}

ScheduleRule auto_inline(const AutoInlineOptions& options) {
  return {"auto_inline", [options](const Schedule& sch, BlockRV block, const Target&) {
            if (is_root(sch, block)) return std::vector{sch};
            const tir::BlockRealize realize = sch.get(block);
            if (!is_elementwise(*realize.block)) return std::vector{sch};
            const tir::Store& store = *realize.block->body.as<tir::Store>();
            if (!has_calls(store.value))
              if (auto done = tried(sch, [&](Schedule& own) { own.compute_inline(block); }))
                return std::vector{*done};
            if (options.into_producer)
              if (auto done = tried(sch, [&](Schedule& own) { own.reverse_compute_inline(block); }))
                return std::vector{*done};
            return std::vector{sch};
          }};
}

// ---- add_rfactor --------------------------------------------------------------------------------

namespace {

using s_tir::LoopRV;

/// Whether rfactor is worthwhile: the block is a reduction with fewer independent elements than
/// jobs. If it also reuses data, tiling is an alternative. There must then also be fewer elements
/// than terms per element.
bool is_worth_rfactor(const Schedule& sch, BlockRV block, double jobs) {
  const auto lengths = reduction_lengths(sch, block);
  if (!lengths) return false;
  const auto [spatial, reduction] = *lengths;
  if (reduction <= 1) return false;
  return reuses_data(sch, block) ? spatial < reduction && spatial <= jobs : spatial < jobs;
}

}  // namespace

ScheduleRule add_rfactor(const RFactorOptions& options) {
  return {"add_rfactor", [options](const Schedule& sch, BlockRV block, const Target& target) {
            const double jobs =
                static_cast<double>(options.max_jobs_per_core) * target.facts().cores;
            std::vector<Schedule> designs = {sch};
            if (is_root(sch, block) || !is_worth_rfactor(sch, block, jobs)) return designs;
            for (const std::size_t part : {0u, 1u})
              if (auto done = tried(sch, [&](Schedule& own) {
                    const auto [loop, spatial_loops] = fuse_reduction(own, block);
                    const auto factors = own.sample_perfect_tile(
                        loop, {.n = 2, .max_innermost_factor = options.max_innermost_factor});
                    const std::vector<LoopRV> parts = own.split(loop, factors);
                    own.rfactor(parts[part], spatial_loops);
                  }))
                designs.push_back(std::move(*done));
            return designs;
          }};
}

// ---- cross_thread_reduction ---------------------------------------------------------------------

namespace {

/// Whether threads should reduce cooperatively: each element has more terms than a warp has
/// threads. If the block reuses data, tiling is an alternative. There must then be fewer elements
/// than terms per element, and at most as many elements as threads in a block.
bool is_worth_threads(const Schedule& sch, BlockRV block, const tir::TargetFacts& target) {
  constexpr double kWarp = 32;
  const auto lengths = reduction_lengths(sch, block);
  if (!lengths) return false;
  const auto [spatial, reduction] = *lengths;
  if (reuses_data(sch, block))
    return spatial < reduction && spatial <= target.max_threads_per_block;
  return reduction > kWarp;
}

}  // namespace

ScheduleRule cross_thread_reduction(const CrossThreadOptions& options) {
  return {"cross_thread_reduction",
          [options](const Schedule& sch, BlockRV block, const Target& target) {
            std::vector<Schedule> designs = {sch};
            if (is_root(sch, block) || !is_worth_threads(sch, block, target.facts()))
              return designs;
            std::vector<std::int64_t> extents;
            for (const std::int64_t extent : options.thread_extents)
              if (extent <= target.facts().max_threads_per_block) extents.push_back(extent);
            if (extents.empty()) return designs;
            if (auto done = tried(sch, [&](Schedule& own) {
                  const LoopRV terms = fuse_reduction(own, block).first;
                  const s_tir::ExprRV threads = sample_uniform(own, extents);
                  const std::vector<LoopRV> parts = own.split(terms, {std::nullopt, threads});
                  own.bind(parts[1], "threadIdx.x");
                }))
              designs.push_back(std::move(*done));
            return designs;
          }};
}

// ---- parallelize_vectorize_unroll ---------------------------------------------------------------

ScheduleRule parallelize_vectorize_unroll(const ParallelizeOptions& options) {
  return {"parallelize_vectorize_unroll",
          [options](const s_tir::Schedule& sch, s_tir::BlockRV block, const Target& target) {
            if (!is_root(sch, block)) return std::vector{sch};
            s_tir::Schedule own = sch;
            if (options.max_jobs_per_core > 0)
              own.annotate(block, kParallelKey,
                           std::int64_t{options.max_jobs_per_core} * target.facts().cores);
            if (options.max_vectorize_extent > 0)
              own.annotate(block, kVectorizeKey, std::int64_t{options.max_vectorize_extent});
            if (!options.unroll_max_steps.empty())
              own.annotate(block, kUnrollExplicitKey,
                           sample_uniform(own, options.unroll_max_steps));
            return std::vector{own};
          }};
}

// ---- random_compute_location --------------------------------------------------------------------

namespace {

/// Whether the block can be moved into a loop of its consumers: it is spatial, has consumers, and
/// does not share its loops with other blocks.
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
