// What the primitives of loops share.
#pragma once

#include "s_tir/context.h"

namespace tenon::s_tir {

/// Refuses a loop that is bound or annotated, or that does not start at 0.
void require_plain_loop(const Caller& caller, const Program& program, int loop);

/// An expression for an error's text.
std::string tir_text(const tir::Expr& e);

/// Refuses unless concurrent iterations (parallel loops, lanes, threads) of the loops around `n`,
/// around its blocks and around the producers of what `n` reads are independent. Every primitive
/// that changes or adds the accesses of `n` calls this.
void require_independent_around(const Caller& caller, const Program& after, int n);

}  // namespace tenon::s_tir
