// The rest of a schedule for a device, by chance: what random steps left to the host is bound to
// threads, and memory is where a launch can have it.
//
//   for (const Random& random : steps) schedule.step(random);
//   fit_for_device({schedule.schedule(), notes}, Random(1));     // "bind the rest: s[T0] i0 to blockIdx.x"
#pragma once

#include "tests/fuzz/noted_schedule.h"
#include "tests/fuzz/random.h"

namespace tenon::fuzz {

/// Says what was done. A schedule that cannot be one for a device (it is refused before it is
/// lowered, or a stage has no loop that a thread may take) stays as it is in that part.
std::vector<std::string> fit_for_device(const NotedSchedule& schedule, Random random);

}  // namespace tenon::fuzz
