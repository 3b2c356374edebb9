// All passes, one sentence each. The head of `<folder>/<pass>.cpp` shows the loops before and
// after. pipeline.cpp has the tables that say when each runs.
#pragma once

#include "tenon/lower/pass.h"

namespace tenon::lowering {

using PassFunction = tir::PrimFunc(const tir::PrimFunc& func, const PassOptions& options);

// ---- loops/: what the schedule means ----

/// Turns a block program into loops over multi-dimensional buffers.
PassFunction lower_blocks;
/// Gives buffers marked as rolling a circular window instead of their whole extent.
PassFunction inject_rolling_buffers;
/// Turns prefetch marks into calls of the prefetch intrinsic.
PassFunction inject_prefetch;
/// Lets loops that begin far from 0 begin at 0.
PassFunction rebase_loops;
/// Replaces multi-dimensional buffers by allocations with flat indices.
PassFunction flatten_storage;
/// Computes 64-bit loops and indices in 32 bits where all values fit.
PassFunction narrow_index_types;
/// Runs arith::simplify over all expressions, with the ranges of the loops around them.
PassFunction simplify;
/// Splits loops where their guards change, so that the main part has none.
PassFunction partition_loops;
/// Turns vectorized loops into vector expressions, or into serial loops where that is impossible.
PassFunction vectorize_loops;
/// Vectorizes as TVM 0.9 text shows it: an if_then_else that differs between lanes becomes a loop.
PassFunction vectorize_loops_as_text;
/// Interleaves virtual threads in one thread.
PassFunction inject_virtual_threads;
/// Allocates double buffers twice and fills the next one ahead of its use.
PassFunction inject_double_buffers;
/// Lets allocations whose lifetimes are disjoint share memory.
PassFunction rewrite_storage;
/// Unrolls loops that are marked, and short ones as PassOptions::unroll allows.
PassFunction unroll_loops;
/// Divides the common factor out of guards and divisions of split axes.
PassFunction renormalize_splits;
/// Removes statements without an effect.
PassFunction remove_no_ops;
tir::Stmt remove_no_ops(const tir::Stmt& s);
/// Turns scalar selects into if_then_else where a side may fault.
PassFunction rewrite_unsafe_selects;
/// Hoists conditions out of loops in which they are invariant.
PassFunction hoist_ifs;
/// Computes repeated expressions once, into let variables.
PassFunction eliminate_common_subexpressions;
/// Eliminates as TVM 0.9 text shows it: divisions leave the choices that guard them.
PassFunction eliminate_common_subexpressions_as_text;
/// Turns choices between lanes into if_then_else where the side that is not chosen may fault.
PassFunction guard_choices;
/// Expands intrinsics that are compositions of others, and divisions of known sign.
PassFunction lower_intrinsics;
/// Computes index arithmetic in 64 bits where 32 may overflow.
PassFunction widen_index_types;

// ---- tvm_text/: for TVM 0.9 text only ----

/// Folds additions of 0.0, as TVM does.
PassFunction fold_added_zeros;
/// Spells out bfloat16 as bits and float32 arithmetic.
PassFunction legalize_bfloat16;
/// Declares a buffer of its own for each access of a lane's memory.
PassFunction part_lane_buffers;

// ---- cpu/: what the compiler decides for processors ----

/// Folds x + 0.0 and x * 0.0, which holds for finite numbers (fast_math).
PassFunction fold_float_identities;
/// Vectorizes loops that accumulate floats, which changes the order of additions (fast_math).
PassFunction reassociate_accumulations;
/// Turns memory that holds vectors into memory of their elements.
PassFunction scalarize_elements;
/// Combines sums of four byte products into dot-product instructions.
PassFunction combine_products;
/// Splits vectors that are much wider than a register into loops of registers.
PassFunction split_wide_vectors;
/// Merges stores to neighbouring elements into vector stores (superword-level parallelism).
PassFunction pack_stores;
/// Ends loops where a condition on their variable, around the whole body, ends them.
PassFunction tighten_loop_bounds;
/// Vectorizes innermost serial loops with independent iterations (PassOptions::autotune_loops).
PassFunction auto_vectorize;
/// Moves small memory into the innermost loop whose iterations each fill it.
PassFunction privatize_buffers;
/// Joins vectors of consecutive iterations into full registers.
PassFunction widen_vectors;
/// Unrolls and jams loops so that accumulators of several iterations share registers.
PassFunction jam_loops;
/// Keeps accumulators in local memory while a loop adds to them (scalar replacement).
PassFunction promote_accumulators;
/// Orders accumulations so that operands stay in registers between their uses.
PassFunction schedule_accumulations;
/// Replaces strided loads and stores by dense ones and shuffles.
PassFunction interleave_lanes;

// ---- gpu/: kernels ----

/// Moves thread axes to the outside, where a launch knows them.
PassFunction hoist_thread_axes;
/// Turns memory of a warp into shared memory with a part for each warp.
PassFunction lower_warp_memory;
/// Expands reductions across threads into steps in shared memory or warp shuffles.
PassFunction lower_thread_allreduce;
/// Turns copies from global to shared memory into asynchronous ones.
PassFunction inject_async_copies;
/// Places the barriers that shared memory needs, and refuses races between blocks.
PassFunction synchronize_threads;

// ---- checks/: checks in generated code ----

/// Checks, at run time, each access of a tensor that is not proved in bounds.
PassFunction check_accesses;
/// Checks the flat accesses that remain after lowering.
PassFunction instrument_bounds;

}  // namespace tenon::lowering
