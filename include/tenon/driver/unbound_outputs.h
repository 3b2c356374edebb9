// Schedules whose result nobody gets, and arguments that get none: printed, but not built.
#pragma once

#include "tenon/driver/lower.h"

namespace tenon {

/// Throws LowerError, naming it and the way out, for an output of the schedule that is no argument:
/// it would be computed into memory of its own and thrown away. One output of an operation of
/// several is enough. The same for an argument that no stage computes, because it is inlined: its
/// array would never be written.
void refuse_unbound_outputs(const te::StageGraph& graph, const std::vector<LowerArgument>& args,
                            const std::vector<std::pair<te::Tensor, tir::Buffer>>& binds,
                            const SourceLocation& where);

}  // namespace tenon
