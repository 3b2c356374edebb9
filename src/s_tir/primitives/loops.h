// What the primitives of loops share.
#pragma once

#include "s_tir/context.h"

namespace tenon::s_tir {

/// Refuses a loop that is bound or annotated, or that does not start at 0.
void require_plain_loop(const Caller& caller, const Program& program, int loop);

/// An expression for an error's text.
std::string tir_text(const tir::Expr& e);

}  // namespace tenon::s_tir
