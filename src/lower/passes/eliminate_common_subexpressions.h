// Gives a name to what is computed more than once: `let cse_var_N = ...`.
//
//   B[i*8 + k] = A[i*8 + k] + 1        =>   let cse_var_1: int32 = ((i*8) + k)
//                                           B[cse_var_1] = (A[cse_var_1] + 1f32)
//
// Choice, order and numbers are those that readers of the reference's text know. A computation may
// hold no load and no call, and only variables of parameters, loops and lets. A let never rises
// above a loop or a condition because of what is in its body alone: of a loop (min, extent, body),
// a condition (condition, both cases) and a while (condition, body) only what occurs in two of the
// parts counts. At a statement, computations are taken by size, largest first, then by text; one
// that is not taken gives its parts to the choice, each counted once. Each new let goes outside the
// earlier ones; then the nest is searched anew.
//
// An integer division by what may be zero stays in the sides of choices, unless another occurrence
// is evaluated in any case. TVM 0.9 text has it in front of the choice.
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

tir::PrimFunc eliminate_common_subexpressions(const tir::PrimFunc& func,
                                              const PassOptions& options);
tir::PrimFunc eliminate_common_subexpressions_as_text(const tir::PrimFunc& func,
                                                      const PassOptions& options);

}  // namespace tenon::lowering
