// Rules: transformations of a block that may make it faster. Rules sample the decisions that the
// transformation leaves open.
//
// The rules, with their tile structures and constants, follow TVM's MetaSchedule (Shao et al.,
// "Tensor Program Optimization with Probabilistic Programs", NeurIPS 2022). Multi-level tiling
// comes from Ansor (Zheng et al., OSDI 2020).
//
//   tune::ScheduleRule unroll_all{"unroll_all", [](const s_tir::Schedule& sch, s_tir::BlockRV block,
//                                                  const Target&) {
//     s_tir::Schedule own = sch;
//     own.unroll(own.get_loops(block).back());
//     return std::vector{own};
//   }};
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tenon/driver/target.h"
#include "tenon/s_tir/schedule.h"

namespace tenon::tune {

struct ScheduleRule {
  std::string name;
  /// Returns the designs derived from a schedule at a block; the schedule itself if the rule does
  /// not apply. Never empty.
  std::function<std::vector<s_tir::Schedule>(const s_tir::Schedule&, s_tir::BlockRV, const Target&)>
      apply;
};

/// Returns, for CPUs, in this order: inline_constants, auto_inline, tiling_with_intrinsic for each
/// currently registered intrinsic, add_rfactor, multi_level_tiling, parallelize_vectorize_unroll,
/// random_compute_location. For devices: inline_constants, device_tiling, auto_inline (also into
/// producers), cross_thread_reduction, parallelize_vectorize_unroll (which only unrolls).
std::vector<ScheduleRule> default_rules(const Target& target);

/// Inlines blocks without iterators that store one value which does not depend on any buffer.
ScheduleRule inline_constants();

/// Options of auto_inline.
struct AutoInlineOptions {
  /// Whether to inline a block into its producer if it has only one.
  bool into_producer = false;
};
/// Inlines blocks that compute each element from input elements without reduction. Blocks that
/// write outputs of the program are not inlined into consumers.
ScheduleRule auto_inline(const AutoInlineOptions& options = {});

/// Options of add_rfactor.
struct RFactorOptions {
  /// Designs with partial results are made for reductions with fewer independent elements per core
  /// than this.
  int max_jobs_per_core = 16;
  int max_innermost_factor = 64;
};
/// Adds designs for a reduction with few independent elements: unchanged, and with partial results
/// over the outer or over the inner part of its loop.
ScheduleRule add_rfactor(const RFactorOptions& options = {});

/// Options of multi_level_tiling.
struct TilingOptions {
  /// The order of the tile levels: S stands for all spatial loops, R for all reduction loops.
  std::string structure = "SSRSRS";
  int max_innermost_factor = 64;
  /// Tile levels, counted from 1, at which the results may be written back by an elementwise
  /// consumer or from a cache. Each level gives one design.
  std::vector<int> write_reuse_levels = {1, 2};
  std::string write_scope = "global";
  /// The level below which inputs that exceed a core's caches are packed, so that a tile of them is
  /// contiguous (Goto and van de Geijn, 2008). Nullopt: inputs are read in place. TVM has no such
  /// designs for CPUs; programs whose inputs fit the caches get none.
  std::optional<int> read_reuse_level = 3;
};
/// Tiles reductions that reuse their inputs. Adds one design per level in `write_reuse_levels`,
/// innermost first, and one whose results are not written back per tile. If inputs are large, adds
/// the same designs with packed inputs too.
ScheduleRule multi_level_tiling(const TilingOptions& options = {});

/// Adds designs for a reduction that the registered intrinsic (s_tir/tensor_intrin.h) can compute
/// in tiles: one unchanged, and one with multi-level tiling whose innermost tiles are computed by
/// the intrinsic. The rule tries to tensorize in order to find out whether the intrinsic applies.
/// The reduction's extents must be multiples of the intrinsic's extents. `structure` lists the tile
/// levels around the intrinsic, as in TilingOptions.
ScheduleRule tiling_with_intrinsic(const std::string& intrinsic,
                                   const std::string& structure = "SSRSRS",
                                   int max_innermost_factor = 64);

/// Options of device_tiling.
struct DeviceTilingOptions {
  /// See TilingOptions.
  std::string structure = "SSSRRSRS";
  int max_innermost_factor = 64;
  /// Thread axes. The loops of tile level n are fused and bound to axis n. One thread executes all
  /// further levels, and keeps its accumulators in local memory.
  std::vector<std::string> thread_axes = {"blockIdx.x", "vthread.x", "threadIdx.x"};
  /// The level below which the threads of a block copy their inputs to shared memory together.
  int read_reuse_level = 4;
  /// Candidates for the number of elements that a thread copies at once; sampled for each input.
  std::vector<std::int64_t> vector_loads = {1, 2, 4};
};
/// Tiles reductions that reuse their inputs for a device. Adds one design.
ScheduleRule device_tiling(const DeviceTilingOptions& options = {});

/// Candidates for the number of threads that share one sum.
struct CrossThreadOptions {
  std::vector<std::int64_t> thread_extents = {4, 8, 16, 32, 64, 128, 256, 512};
};
/// Adds designs for long sums on a device: unchanged, and with the terms of each sum distributed
/// over threads.
ScheduleRule cross_thread_reduction(const CrossThreadOptions& options = {});

/// Limits of parallelization, vectorization and unrolling.
struct ParallelizeOptions {
  int max_jobs_per_core = 16;
  /// Maximum number of iterations of an innermost loop to vectorize.
  int max_vectorize_extent = 64;
  std::vector<std::int64_t> unroll_max_steps = {0, 16, 64, 512};
};
/// Annotates the root with the limits of parallelization, vectorization and unrolling, which a
/// postprocessor implements.
ScheduleRule parallelize_vectorize_unroll(const ParallelizeOptions& options = {});

/// Moves each block that can be computed at a consumer's loop to a sampled loop.
ScheduleRule random_compute_location();

}  // namespace tenon::tune
