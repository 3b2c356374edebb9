// Check for races between the tasks of persistent parallel regions. Functions with such races can
// be printed but not built.
#pragma once

#include "tenon/tir/function.h"

namespace tenon::lowering {

/// Throws a LowerError, with the buffer and the loops, if tasks of a region (pragma
/// parallel_launch_point) race. Every task runs the body, and the tasks share the iterations of the
/// parallel loops inside. Errors are: several tasks execute the same store or call; a loop accesses
/// a buffer that another loop fills or reads without a barrier between them; each task would have
/// its part of a buffer in separate memory.
void refuse_region_races(const tir::PrimFunc& func);

}  // namespace tenon::lowering
