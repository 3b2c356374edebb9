// A drawing of the loops around the readers of a stage, for messages: the possible attach points.
#pragma once

#include "tenon/te/graph.h"

namespace tenon::te {

/// Returns, for a stage `B` to be computed at loop `i.outer` of `C`, lines such as
///
///   for i.outer in `C`    <- `B` is to be computed here
///     for i.inner in `C`
///       `C` reads `B`
///   for i in `D`
///     `D` reads `B`
std::string draw_readers(const StageGraph& graph, StageId id, const AttachPoint& asked);

}  // namespace tenon::te
