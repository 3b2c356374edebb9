// Rules: ways to transform a block that are worth trying, with what is open about them sampled.
//
// They are the rules of TVM's MetaSchedule (Shao et al., "Tensor Program Optimization with
// Probabilistic Programs", NeurIPS 2022), with its structures and numbers; tiles of
// several levels are Ansor's (Zheng et al., OSDI 2020).
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
  /// The designs that come of this one: itself where the rule has nothing to say about the block.
  /// At least one.
  std::function<std::vector<s_tir::Schedule>(const s_tir::Schedule&, s_tir::BlockRV, const Target&)>
      apply;
};

/// For CPUs, in this order: inline_constants, auto_inline, tiling_with_intrinsic for each intrinsic
/// that is registered now, add_rfactor, multi_level_tiling, parallelize_vectorize_unroll,
/// random_compute_location. For devices: inline_constants, device_tiling, auto_inline into
/// producers too, cross_thread_reduction, parallelize_vectorize_unroll (which only unrolls).
std::vector<ScheduleRule> default_rules(const Target& target);

/// Blocks without loops that write a constant are computed where they are read.
ScheduleRule inline_constants();

/// Where blocks are put.
struct AutoInlineOptions {
  /// A block is put into its producer too, where it has just one.
  bool into_producer = false;
};
/// Blocks whose elements each depend on elements of what they read, one to one, are computed where
/// they are read. Results are not: nobody reads them.
ScheduleRule auto_inline(const AutoInlineOptions& options = {});

/// When partial results are made, and how long their inner loops may be.
struct RFactorOptions {
  /// A reduction with fewer independent elements than this for each core is split into partial
  /// ones.
  int max_jobs_per_core = 16;
  int max_innermost_factor = 64;
};
/// A reduction of few independent elements: as it is, and with partial results over the outer or
/// the inner part of its loop.
ScheduleRule add_rfactor(const RFactorOptions& options = {});

/// The levels of tiles, and what is copied at which.
struct TilingOptions {
  /// The order of the tiles: S all spatial loops, R all loops of the reduction.
  std::string structure = "SSRSRS";
  int max_innermost_factor = 64;
  /// Levels of spatial tiles below which results may be written from a cache.
  std::vector<int> write_reuse_levels = {1, 2};
  std::string write_scope = "global";
  /// The level below which inputs that no cache of a core holds are copied, part by part, so that a
  /// tile of them is contiguous (Goto and van de Geijn, 2008); none: they are read where they are.
  /// The reference has no such designs for CPUs, and a program whose inputs fit the cache none
  /// here.
  std::optional<int> read_reuse_level = 3;
};
/// Reductions whose inputs are used again and again, tiled. One design for each level of write
/// reuse, innermost first, and one without; the same again with large inputs copied.
ScheduleRule multi_level_tiling(const TilingOptions& options = {});

/// How products with an intrinsic inside are tiled around it.
struct IntrinsicTilingOptions {
  /// As TilingOptions, of the loops around the intrinsic.
  std::string structure = "SSRSRS";
  int max_innermost_factor = 64;
};
/// A reduction that the registered intrinsic (s_tir/tensor_intrin.h) computes a tile of: as it is,
/// and one design in which the intrinsic computes tiles of its size, with tiles of several levels
/// around. Whether it does is found by trying: extents must be multiples of the intrinsic's.
ScheduleRule tiling_with_intrinsic(const std::string& intrinsic,
                                   const IntrinsicTilingOptions& options = {});

/// The tiles of a device: which levels are bound to what, and what is copied where.
struct DeviceTilingOptions {
  /// As TilingOptions.
  std::string structure = "SSSRRSRS";
  int max_innermost_factor = 64;
  /// What the loops of the first levels, fused, are bound to; below the last of them is what one
  /// thread does, and keeps its sums in local memory.
  std::vector<std::string> thread_axes = {"blockIdx.x", "vthread.x", "threadIdx.x"};
  /// The level below which the threads of a block copy their inputs to shared memory, together.
  int read_reuse_level = 4;
  /// How many elements a thread may copy at once: one of these is sampled for each input.
  std::vector<std::int64_t> vector_loads = {1, 2, 4};
};
/// Reductions whose inputs are used again and again, tiled for a device. One design.
ScheduleRule device_tiling(const DeviceTilingOptions& options = {});

/// How many threads may share one sum.
struct CrossThreadOptions {
  std::vector<std::int64_t> thread_extents = {4, 8, 16, 32, 64, 128, 256, 512};
};
/// Long sums on a device: as they are, and with the terms of each divided among threads.
ScheduleRule cross_thread_reduction(const CrossThreadOptions& options = {});

/// How far loops run in parallel, in vectors and written out.
struct ParallelizeOptions {
  int max_jobs_per_core = 16;
  /// Most elements of a vector; at most so many of an innermost loop are vectorized.
  int max_vectorize_extent = 64;
  std::vector<std::int64_t> unroll_max_steps = {0, 16, 64, 512};
};
/// Notes at the root how far loops may be parallel, vectors and unrolled; a post-processor does it.
ScheduleRule parallelize_vectorize_unroll(const ParallelizeOptions& options = {});

/// Blocks that can be computed below a loop of what reads them are so at a sampled one.
ScheduleRule random_compute_location();

}  // namespace tenon::tune
