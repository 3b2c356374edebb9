// The loops around the readers of a stage, drawn for a message: where the stage could be computed.
#pragma once

#include "tenon/te/graph.h"

namespace tenon::te {

/// Of a stage `B` that is to be computed at loop `i.outer` of `C`, lines such as
///
///   for i.outer in `C`    <- `B` is to be computed here
///     for i.inner in `C`
///       `C` reads `B`
///   for i in `D`
///     `D` reads `B`
std::string draw_readers(const StageGraph& graph, StageId id, const AttachPoint& asked);

}  // namespace tenon::te
