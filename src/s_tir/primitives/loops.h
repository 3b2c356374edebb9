// Common parts of the primitives on loops.
#pragma once

#include "s_tir/context.h"

namespace tenon::s_tir {

/// Throws for a loop that is bound or annotated, or whose minimum is not 0.
void require_plain_loop(const Caller& caller, const Program& program, int loop);

/// Throws if the body of the loop writes memory that the loop's range reads, because the step would
/// evaluate the range again after the loop has begun.
void require_stable_range(const Caller& caller, const Program& program, int loop);

/// Returns an expression as text for an error.
std::string tir_text(const tir::Expr& e);

/// Throws if a block around `n` allocates memory that the threads of a loop around that block
/// share.
void require_memory_of_threads_around(const Caller& caller, const Program& after, int n);

/// Throws unless concurrent iterations (parallel loops, lanes, threads) of the loops around `n`,
/// around its blocks and around the producers of its inputs are independent. Every primitive that
/// changes or adds accesses of `n` must call this.
void require_independent_around(const Caller& caller, const Program& after, int n);

}  // namespace tenon::s_tir
