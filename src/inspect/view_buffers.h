// The buffers of a schedule, for a page: what is needed of each, and what it gets.
#pragma once

#include "tenon/inspect/loop_view.h"

namespace tenon {

/// Arguments first, then what the program allocates or stores, producers first.
std::vector<LoopView::Buffer> view_buffers(const te::Schedule& schedule,
                                           const std::vector<LowerArgument>& args,
                                           const BuildOptions& options,
                                           const SourceLocation& where);
/// Adds those of a function that has been lowered: its arguments, and the memory that it allocates.
void view_buffers(const tir::PrimFunc& func, std::vector<LoopView::Buffer>& buffers);

}  // namespace tenon
