// Post-processors: what is done to every candidate after its samples are drawn, so that notes of
// the rules become loops, and what would not be fast or legal is left out.
//
//   for (const tune::Postprocessor& post : tune::default_postprocessors(target)) post.apply(sch, target);
//
// They use the same primitives as everybody, so that what they do is in the trace (behind
// enter_postproc) and is checked. A ScheduleError means that the candidate is dropped.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tenon/driver/target.h"
#include "tenon/s_tir/schedule.h"

namespace tenon::tune {

struct Postprocessor {
  std::string name;
  std::function<void(s_tir::Schedule&, const Target&)> apply;
};

/// In this order: disallow_dynamic_loops, rewrite_parallel_vectorize_unroll,
/// rewrite_reduction_blocks, rewrite_intrinsics. For devices: disallow_dynamic_loops,
/// rewrite_cooperative_fetches, rewrite_unbound_blocks, rewrite_parallel_vectorize_unroll,
/// rewrite_reduction_blocks, verify_device_program.
std::vector<Postprocessor> default_postprocessors(const Target& target);

/// Candidates with a loop whose extent is no constant are dropped.
Postprocessor disallow_dynamic_loops();
/// The notes of parallelize_vectorize_unroll at the root: as many outer loops as are independent
/// are fused and run in parallel, inner loops over neighbouring elements become vectors, and what
/// is between gets the pragmas of unrolling.
Postprocessor rewrite_parallel_vectorize_unroll();
/// The init of a reduction becomes a block of its own, in front of the first loop that is not over
/// independent elements.
/// A sum whose terms threads share keeps its init.
Postprocessor rewrite_reduction_blocks();
/// The blocks that tiling_with_intrinsic left for an intrinsic are computed by it.
Postprocessor rewrite_intrinsics();
/// The copies of device_tiling are divided among the threads of the block, in vectors of the length
/// that was sampled.
Postprocessor rewrite_cooperative_fetches();
/// Loops of a kernel that no rule has bound are divided among blocks and threads.
Postprocessor rewrite_unbound_blocks();
/// Candidates that the device cannot launch (too many threads, too much shared memory), or whose
/// threads could not wait for each other, are dropped before they are compiled.
Postprocessor verify_device_program();

}  // namespace tenon::tune
