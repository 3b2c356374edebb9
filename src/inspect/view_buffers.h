// The buffers of a schedule for a page: the required and the allocated size of each.
#pragma once

#include "tenon/inspect/loop_view.h"

namespace tenon {

/// Returns the arguments, followed by the buffers that the program allocates or stores, producers
/// first.
std::vector<LoopView::Buffer> view_buffers(const te::Schedule& schedule,
                                           const std::vector<LowerArgument>& args,
                                           const BuildOptions& options,
                                           const SourceLocation& where);
/// Appends the arguments and the allocations of a lowered function.
void view_buffers(const tir::PrimFunc& func, std::vector<LoopView::Buffer>& buffers);

}  // namespace tenon
