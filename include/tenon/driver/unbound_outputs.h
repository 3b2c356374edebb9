// Checks for results that the caller does not receive. Such schedules can be printed but not built.
#pragma once

#include "tenon/driver/lower.h"

namespace tenon {

/// Throws a LowerError, with a remedy, for an operation of which no output is an argument, since
/// its result would be discarded, and for an argument that no stage computes because it is inlined,
/// since its array would not be written.
void refuse_unbound_outputs(const te::StageGraph& graph, const std::vector<LowerArgument>& args,
                            const std::vector<std::pair<te::Tensor, tir::Buffer>>& binds,
                            const SourceLocation& where);

}  // namespace tenon
