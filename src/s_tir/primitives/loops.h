// Helpers shared by the primitives on loops.
#pragma once

#include "s_tir/context.h"

namespace tenon::s_tir {

/// Throws if the loop is bound or annotated, or if its minimum is not 0.
void require_plain_loop(const Caller& caller, const Program& program, int loop);

/// Throws if the body of the loop writes memory that the loop's range reads. The primitive
/// evaluates the range again after the loop has begun.
void require_stable_range(const Caller& caller, const Program& program, int loop);

/// Throws if a block around `n` allocates memory that is shared by the threads of a loop around
/// that block.
void require_memory_of_threads_around(const Caller& caller, const Program& after, int n);

/// Throws unless concurrent iterations (of parallel loops, lanes, threads) are independent. Checks
/// the loops around `n`, around the blocks inside it, and around the producers of its inputs. Every
/// primitive that changes or adds accesses of `n` must call this function.
void require_independent_around(const Caller& caller, const Program& after, int n);

}  // namespace tenon::s_tir
