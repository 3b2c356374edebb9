// What the loops of a schedule are given to run with, where nobody says what the arguments are.
#pragma once

#include "tenon/te/infer_bound.h"
#include "tenon/te/schedule_ops.h"

namespace tenon::te {

/// The sizes, all other variables of bodies and of ranges that are no axis (a factor, a scalar that
/// values are multiplied by), then inputs and outputs. What the shape of an input gives is left out
/// unless it is one of the sizes.
std::vector<FunctionArgument> report_arguments(
    const StageGraph& graph, const Bounds& bounds,
    const std::vector<std::pair<tir::Var, std::int64_t>>& sizes);

}  // namespace tenon::te
