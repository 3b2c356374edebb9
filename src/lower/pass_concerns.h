// What a function must contain for a pass to have anything to do with it (Pass::concerns).
#pragma once

#include "tenon/lower/pass.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// For a pass about one thing.
template <tir::Content kContent>
bool has(const tir::PrimFunc& func, const PassOptions&) {
  return tir::contains(func.body, kContent);
}

/// Comparisons of order, floor divisions, negations.
bool has_guard_or_division(const tir::PrimFunc& func, const PassOptions& options);
/// In the body or among the parameters.
bool has_bfloat16(const tir::PrimFunc& func, const PassOptions& options);
/// Loops that are to be unrolled, may be, or have no iterations.
bool may_unroll(const tir::PrimFunc& func, const PassOptions& options);
/// Memory with two copies, or the mark at what fills it.
bool has_double_buffer(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
