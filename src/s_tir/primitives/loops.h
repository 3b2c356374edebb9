// What the primitives of loops share.
#pragma once

#include "s_tir/context.h"

namespace tenon::s_tir {

/// Refuses a loop that is bound or annotated, or that does not start at 0.
void require_plain_loop(const Caller& caller, const Program& program, int loop);

/// An expression for an error's text.
std::string tir_text(const tir::Expr& e);

/// Refuses unless the iterations of the loops around a statement, and of those around all of its
/// blocks, that run at the same time (parallel, in lanes, by threads) may do so: what a step must
/// ask that changes what stands there.
void require_independent_around(const Caller& caller, const Program& after, int n);

}  // namespace tenon::s_tir
