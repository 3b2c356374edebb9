// Checks that memory that belongs to a launch of threads is not used across launches.
#pragma once

#include "te/loops/program.h"

namespace tenon::te {

/// ScheduleError for a stage whose memory is not global and exists outside the threads that use it:
///
///   realize B in shared { attr threadIdx.x { B[x] = A[x] }   attr threadIdx.x { C[x] = B[x] } }
///
/// The second launch does not find what the first one left in its shared memory. Without threads, a
/// scope has no effect on visibility, and the program is accepted.
void check_launches(const Program& program, const Stmt& body);

}  // namespace tenon::te
