// The steps from a frozen schedule and its bounds to lowered functions, which lower and build
// share.
//
//   const te::StageGraph graph = te::freeze(schedule);
//   const te::Bounds bounds = te::infer_bound(graph);
//   emit_warnings(schedule, graph, bounds, options);
//   tir::IRModule lowered = lower_loops(make_loops(graph, bounds, {A, B, C}, options, where), options);
#pragma once

#include "tenon/driver/lower.h"
#include "tenon/te/graph.h"
#include "tenon/te/infer_bound.h"

namespace tenon {

/// Reports the warnings of the schedule that have not been reported yet, to `options.on_warning` or
/// to standard error.
void emit_warnings(const te::Schedule& schedule, const te::StageGraph& graph,
                   const te::Bounds& bounds, const LowerOptions& options);

/// Returns the loop program before any pass, over multi-dimensional buffers. With
/// `options.separate_constants`, also the function that computes the constants, if the program has
/// constants. If iterations of a loop conflict, an annotation of the functions has the message,
/// which refuse_conflicts (driver/checks.h) throws.
tir::IRModule make_loops(const te::StageGraph& graph, const te::Bounds& bounds,
                         const std::vector<LowerArgument>& args, const LowerOptions& options,
                         const SourceLocation& where);

/// Lowers the functions of make_loops. Throws BoundError for an access that is provably out of
/// bounds.
tir::IRModule lower_loops(tir::IRModule loops, const LowerOptions& options);

}  // namespace tenon
