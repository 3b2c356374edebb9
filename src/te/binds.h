// The checks of the buffers that a user binds to tensors.
#pragma once

#include <utility>
#include <vector>

#include "tenon/te/graph.h"

namespace tenon::te {

/// Throws ScheduleError if a buffer does not fit its tensor, or if two tensors share a buffer and
/// one overwrites elements of the other that are still read.
void check_binds(const StageGraph& graph, const std::vector<std::pair<Tensor, tir::Buffer>>& binds,
                 const SourceLocation& where);

}  // namespace tenon::te
