// schedule_ops for TVM 0.9 text: a stage that is read only under a condition with one value in the
// whole call is computed all the same.
//
//   B[i] = if_then_else(flag, X[i], A[i])   // in code, X is computed only `if flag`
#pragma once

#include "tenon/te/schedule_ops.h"

namespace tenon::te {

tir::PrimFunc schedule_ops_as_text(const StageGraph& graph, const Bounds& bounds,
                                   const std::vector<FunctionArgument>& arguments,
                                   const FunctionOptions& options, SourceLocation where);

}  // namespace tenon::te
