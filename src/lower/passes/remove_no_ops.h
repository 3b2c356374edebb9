// Statements without an effect go: loops, conditions, allocations and marks around nothing, values
// that nobody uses.
//
//   for (i, 0, 8) { 0 }  A[0] = 1f32        becomes        A[0] = 1f32
#pragma once

#include "tenon/lower/pipeline.h"

namespace tenon::lowering {

/// What evaluating an extent or a condition does stays, as a statement. The body of a pragma
/// "debug_skip_region" goes.
tir::PrimFunc remove_no_ops(const tir::PrimFunc& func, const PassOptions& options);
tir::Stmt remove_no_ops(const tir::Stmt& s);

}  // namespace tenon::lowering
