// Stages that are read only under a call-invariant condition.
#pragma once

#include <optional>
#include <vector>

#include "tenon/te/graph.h"

namespace tenon::te {

/// Returns, for each stage, the condition under which a reader needs any of its values. The
/// condition can be evaluated before the loops. Nullopt if the stage may be needed in every call.
/// Only if_then_else and reductions have such conditions, because a select may read both operands.
std::vector<std::optional<tir::Expr>> needs_of(const StageGraph& graph);

}  // namespace tenon::te
