// Stages that are read only under a condition which the call decides.
#pragma once

#include <optional>

#include "tenon/te/graph.h"

namespace tenon::te {

/// By stage: what must hold for any of its values to be read, where that is known before the
/// function runs; absent where the stage is needed in every call. An if_then_else or the condition
/// of a reduction decides; a select may read both of its arms.
std::vector<std::optional<Expr>> read_conditions(const StageGraph& graph);

}  // namespace tenon::te
