// Memory that a launch of threads has for itself, and programs that use it beyond one launch.
#pragma once

#include "te/loops/program.h"

namespace tenon::te {

/// ScheduleError for a stage whose memory is not global and exists outside of the threads that use
/// it:
///
///   realize B in shared { attr threadIdx.x { B[x] = A[x] }   attr threadIdx.x { C[x] = B[x] } }
///
/// What the first launch leaves in its shared memory, the second one does not find. Without threads
/// a scope says nothing about who sees the memory, and all is well.
void check_launches(const Program& program, const Stmt& body);

}  // namespace tenon::te
