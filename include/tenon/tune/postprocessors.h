// Postprocessors: transformations of every candidate after sampling. They turn the annotations of
// the rules into loops, and reject candidates that would be illegal or slow.
//
//   for (const tune::Postprocessor& post : tune::default_postprocessors(target)) post.apply(sch, target);
//
// Postprocessors use the public primitives, so that their steps are checked and recorded in the
// trace (after enter_postproc). A ScheduleError rejects the candidate.
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

/// Returns, in this order: disallow_dynamic_loops, rewrite_parallel_vectorize_unroll,
/// rewrite_reduction_blocks, rewrite_intrinsics. For devices: disallow_dynamic_loops,
/// rewrite_cooperative_fetches, rewrite_unbound_blocks, rewrite_parallel_vectorize_unroll,
/// rewrite_reduction_blocks, verify_device_program.
std::vector<Postprocessor> default_postprocessors(const Target& target);

/// Rejects candidates that have a loop of non-constant extent.
Postprocessor disallow_dynamic_loops();
/// Implements the annotations of parallelize_vectorize_unroll at the root: fuses the outer
/// independent loops and runs them in parallel, vectorizes inner loops over contiguous elements,
/// and adds unroll pragmas to the loops between.
Postprocessor rewrite_parallel_vectorize_unroll();
/// Moves the init of a reduction into a block of its own, before the first loop that is not over
/// independent elements. A reduction whose terms are distributed over threads keeps its init.
Postprocessor rewrite_reduction_blocks();
/// Tensorizes the blocks that tiling_with_intrinsic marked.
Postprocessor rewrite_intrinsics();
/// Distributes each copy to shared memory over the threads of the block, in vectors of the sampled
/// length. device_tiling creates these copies.
Postprocessor rewrite_cooperative_fetches();
/// Distributes loops of a kernel that no rule has bound over blocks and threads.
Postprocessor rewrite_unbound_blocks();
/// Rejects, before compilation, candidates that the device cannot launch (too many threads, too
/// much shared memory) or whose threads could not synchronize.
Postprocessor verify_device_program();

}  // namespace tenon::tune
