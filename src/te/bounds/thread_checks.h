// Checks for schedules that are incompatible with their threads and memory, reported at the user's
// line.
#pragma once

#include "te/relations/propagate.h"
#include "tenon/te/graph.h"

namespace tenon::te {

/// Checks after all ranges are known: loops do not have more iterations than declared threads;
/// memory that is private to a thread is not read by others; loops around a stage whose memory is
/// shared run equally often in all threads; and no block has to wait for another.
void check_threads(const StageGraph& graph, StageId stage, const AxisRanges& ranges,
                   const Facts& facts);

/// A double buffer requires a loop in which it can run ahead.
void check_double_buffer(const StageGraph& graph, StageId stage);

/// A producer outside the thread's loop, which is around or in `reader`, cannot fill memory that is
/// private to each such thread, unless it runs in the same threads.
void check_sees_thread(const StageGraph& graph, StageId producer, const IterVar* thread,
                       StageId reader);

}  // namespace tenon::te
