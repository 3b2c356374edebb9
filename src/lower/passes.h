// All passes, with one sentence each. The head of `<folder>/<pass>.cpp` shows the loops before and
// after the pass. The tables in pipeline.cpp determine when each pass runs.
#pragma once

#include "tenon/lower/pass.h"

namespace tenon::lowering {

using PassFunction = tir::PrimFunc(const tir::PrimFunc& func, const PassOptions& options);

// ---- loops/: what the schedule means ----

/// Lowers a block program to loops over multi-dimensional buffers.
PassFunction lower_blocks;
/// Replaces buffers marked as rolling by ring buffers.
PassFunction inject_rolling_buffers;
/// Expands prefetch marks into loops of prefetch intrinsics.
PassFunction inject_prefetch;
/// Binds a loop's range to variables if the range reads memory that the function writes.
PassFunction bind_loop_ranges;
/// Rebases loops that begin far from 0, so that they begin at 0.
PassFunction rebase_loops;
/// Replaces multi-dimensional buffers by allocations with flat indices.
PassFunction flatten_storage;
/// Narrows 64-bit loops and indices to 32 bits if all their values fit.
PassFunction narrow_index_types;
/// Simplifies all expressions with arith::simplify, using the ranges of the enclosing loops.
PassFunction simplify;
/// Splits loops at the iterations where their guards change, so that the main part has no guards.
PassFunction partition_loops;
/// Vectorizes marked loops; statements that cannot be vectorized become serial loops.
PassFunction vectorize_loops;
/// Vectorizes as in TVM 0.9 text: an if_then_else that differs between lanes becomes a loop.
PassFunction vectorize_loops_as_text;
/// Runs all virtual threads one after the other in one thread.
PassFunction inject_virtual_threads;
/// Allocates two copies of each buffer marked by double_buffer, and fills one copy for the next
/// iteration while the other copy is used.
PassFunction inject_double_buffers;
/// Places allocations, and lets those with disjoint lifetimes share memory.
PassFunction rewrite_storage;
/// Unrolls marked loops, and short loops if PassOptions::unroll allows it.
PassFunction unroll_loops;
/// Divides both sides of guards, and divisions of split axes, by a common factor.
PassFunction renormalize_splits;
/// Removes statements without an effect.
PassFunction remove_no_ops;
tir::Stmt remove_no_ops(const tir::Stmt& s);
/// Turns scalar selects with an arm that may fault into if_then_else.
PassFunction rewrite_unsafe_selects;
/// Hoists invariant conditions out of loops.
PassFunction hoist_ifs;
/// Binds repeated expressions to let variables.
PassFunction eliminate_common_subexpressions;
/// Binds repeated expressions to let variables as in TVM 0.9 text. Unlike
/// eliminate_common_subexpressions, this pass may hoist an integer division above the if_then_else
/// or select that guards it.
PassFunction eliminate_common_subexpressions_as_text;
/// Turns vector selects into if_then_else if an arm may fault where it is not selected.
PassFunction guard_choices;
/// Expands intrinsics that are composed of others, and simplifies divisions whose operands have
/// known signs.
PassFunction lower_intrinsics;
/// Computes index arithmetic in 64 bits where 32 bits may overflow.
PassFunction widen_index_types;

// ---- tvm_text/: for TVM 0.9 text only ----

/// Folds additions of 0.0 as TVM does.
PassFunction fold_added_zeros;
/// Stores bfloat16 as bits and computes in float32.
PassFunction legalize_bfloat16;
/// Gives each access of a buffer inside a vectorized loop its own buffer object.
PassFunction part_lane_buffers;
/// Rewrites temporaries that are accessed only by whole vectors as memory with vector elements.
PassFunction vectorize_elements;

// ---- cpu/: what the compiler decides for processors ----

/// Folds x + 0.0 and x * 0.0 with fast_math. Both are exact only for finite numbers.
PassFunction fold_float_identities;
/// Vectorizes loops that accumulate floats, with fast_math because the order of additions changes.
/// In auto_vectorize.cpp.
PassFunction reassociate_accumulations;
/// Combines consecutive low-precision products into dot-product instructions.
PassFunction combine_products;
/// Splits vectors that are much wider than a register into loops.
PassFunction split_wide_vectors;
/// Merges stores to adjacent elements into vector stores (superword-level parallelism).
PassFunction pack_stores;
/// Shortens loops whose whole body is guarded by an upper bound on their variable.
PassFunction tighten_loop_bounds;
/// Vectorizes serial loops with independent iterations (PassOptions::autotune_loops).
PassFunction auto_vectorize;
/// Moves small allocations into the innermost loop that refills them in every iteration.
PassFunction privatize_buffers;
/// Merges vectors of consecutive iterations into full registers.
PassFunction widen_vectors;
/// Unrolls and jams loops, so that the accumulators of several iterations are in registers at the
/// same time. They stay there while loops add to them.
PassFunction tile_registers;
/// Replaces strided loads and stores by dense ones with shuffles.
PassFunction interleave_lanes;
/// Prefetches the memory that the next iteration of a loop reads. A pragma marks the loops.
PassFunction prefetch_panels;

// ---- gpu/: kernels ----

/// Hoists thread axes outermost and expresses their extents in values known at the launch.
PassFunction hoist_thread_axes;
/// Lowers warp memory to shared memory in which each warp has its own part.
PassFunction lower_warp_memory;
/// Expands reductions across threads into steps in shared memory or warp shuffles.
PassFunction lower_thread_allreduce;
/// Makes copies from global to shared memory asynchronous.
PassFunction inject_async_copies;
/// Inserts the barriers that accesses of shared memory need. Throws for races between blocks.
PassFunction synchronize_threads;

// ---- checks/: checks in generated code ----

/// Adds a run-time check of each tensor access that is not provably in bounds.
PassFunction check_accesses;
/// Adds run-time bounds checks of the flat accesses after lowering.
PassFunction instrument_bounds;

}  // namespace tenon::lowering
