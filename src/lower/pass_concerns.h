// Conditions on the contents of a function without which a pass has no effect (Pass::concerns).
#pragma once

#include "tenon/lower/pass.h"
#include "tenon/tir/stmt.h"

namespace tenon::lowering {

/// The condition of a pass that concerns one kind of content.
template <tir::Content kContent>
bool has(const tir::PrimFunc& func, const PassOptions&) {
  return tir::contains(func.body, kContent);
}

/// Whether the body contains order comparisons, floor divisions or negations.
bool has_guard_or_division(const tir::PrimFunc& func, const PassOptions& options);
/// Whether bfloat16 occurs in the body or the parameters.
bool has_bfloat16(const tir::PrimFunc& func, const PassOptions& options);
/// Whether a loop must or may be unrolled, or has no iterations.
bool may_unroll(const tir::PrimFunc& func, const PassOptions& options);
/// Whether there is memory with two copies, or a mark on the statement that fills it.
bool has_double_buffer(const tir::PrimFunc& func, const PassOptions& options);

}  // namespace tenon::lowering
