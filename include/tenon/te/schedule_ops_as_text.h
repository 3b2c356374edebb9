// schedule_ops for TVM 0.9 text: a stage that is read only under a call-invariant condition is
// computed unconditionally.
//
//   B[i] = if_then_else(flag, X[i], A[i])   // compiled code computes X only `if flag`
#pragma once

#include "tenon/te/schedule_ops.h"

namespace tenon::te {

tir::PrimFunc schedule_ops_as_text(const StageGraph& graph, const Bounds& bounds,
                                   const std::vector<FunctionArgument>& arguments,
                                   const FunctionOptions& options, SourceLocation where);

}  // namespace tenon::te
