// Checks that memory of one launch of threads is not used in another.
#pragma once

#include "te/loops/program.h"

namespace tenon::te {

/// Throws ScheduleError for a stage whose memory is not global and exists outside the threads that
/// use it:
///
///   realize B in shared { attr threadIdx.x { B[x] = A[x] }   attr threadIdx.x { C[x] = B[x] } }
///
/// Shared memory does not survive from the first launch to the second. Without threads, a scope has
/// no effect on visibility, and the program is accepted.
void check_launches(const Program& program, const Stmt& body);

}  // namespace tenon::te
