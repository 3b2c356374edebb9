// Schedules that threads and memory do not allow, refused where the user wrote them.
#pragma once

#include "te/relations/propagate.h"
#include "tenon/te/graph.h"

namespace tenon::te {

/// Once all ranges are known: no more iterations than threads that the user declared; where each
/// thread has memory of its own, none whose result another thread would have to see; where threads
/// share memory, no loop around it that runs more often in some of them; and nothing that a block
/// would have to wait for another one for.
void check_threads(const StageGraph& graph, StageId stage, const AxisRanges& ranges,
                   const Facts& facts);

/// A double buffer needs a loop in which it can run ahead.
void check_double_buffer(const StageGraph& graph, StageId stage);

/// A producer outside of the thread's loop, which is one around or in `reader`, cannot fill memory
/// of which each such thread has its own, unless it runs in the same threads itself.
void check_sees_thread(const StageGraph& graph, StageId producer, const IterVar* thread,
                       StageId reader);

}  // namespace tenon::te
