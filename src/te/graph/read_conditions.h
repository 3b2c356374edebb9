// Stages that are read only under a call-invariant condition.
#pragma once

#include <optional>

#include "tenon/te/graph.h"

namespace tenon::te {

/// Returns, by stage, the condition under which any of its values is read, if it can be evaluated
/// before the loops; nullopt if the stage is needed in every call. Conditions come from
/// if_then_else and from reductions; a select may read both operands.
std::vector<std::optional<Expr>> read_conditions(const StageGraph& graph);

}  // namespace tenon::te
