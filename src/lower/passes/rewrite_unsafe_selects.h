// A select evaluates both sides. Where one of them might fault (a load outside its buffer, a
// division by zero, a call), it becomes an if_then_else, which evaluates only the side that is
// chosen.
//
//   select((1 <= i), A[(i - 1)], 0f32)    becomes    @tir.if_then_else((1 <= i), A[(i - 1)], 0f32)
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// Selects by lanes of a vector stay.
tir::PrimFunc rewrite_unsafe_selects(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
