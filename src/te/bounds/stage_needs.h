// Stages that are read only under a call-invariant condition.
#pragma once

#include <optional>
#include <vector>

#include "tenon/te/graph.h"

namespace tenon::te {

/// Returns, by stage, the condition under which any of its values is read, if it can be evaluated
/// before the loops; nullopt if the stage is needed in every call. Conditions come from
/// if_then_else and from reductions; a select may read both operands.
std::vector<std::optional<tir::Expr>> needs_of(const StageGraph& graph);

}  // namespace tenon::te
