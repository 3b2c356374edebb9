// Checks that reject schedules that are incompatible with their threads and memory. Errors name the
// user's line.
#pragma once

#include "te/relations/propagate.h"
#include "tenon/te/graph.h"

namespace tenon::te {

/// Checks after all ranges are known: loops do not have more iterations than declared threads;
/// memory that is private to a thread is not read by others; loops around a stage whose memory is
/// shared have the same trip count in all threads; and no block waits for another.
void check_threads(const StageGraph& graph, StageId stage, const AxisRanges& ranges,
                   const Facts& facts);

/// A double buffer requires a loop in which it can run ahead.
void check_double_buffer(const StageGraph& graph, StageId stage);

/// Checks that `producer` can fill memory that is private to a thread. A producer outside the
/// thread's loop (a loop of `reader`, or around it) must run in the same threads.
void check_sees_thread(const StageGraph& graph, StageId producer, const IterVar* thread,
                       StageId reader);

}  // namespace tenon::te
