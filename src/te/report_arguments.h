// Default arguments for running the loops of a schedule whose arguments are not given.
#pragma once

#include "tenon/te/infer_bound.h"
#include "tenon/te/schedule_ops.h"

namespace tenon::te {

/// Returns the sizes, then all other variables of bodies and ranges that are not axes (a factor, a
/// scalar operand), then inputs and outputs. Variables that the shape of an input determines are
/// omitted unless they are among the sizes.
std::vector<FunctionArgument> report_arguments(
    const StageGraph& graph, const Bounds& bounds,
    const std::vector<std::pair<tir::Var, std::int64_t>>& sizes);

}  // namespace tenon::te
