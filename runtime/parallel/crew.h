// The threads of parallel loops, for one setting of their number. A loop keeps the crew that it
// started with. There is one crew for each number of threads that was ever set. Crews are never
// destroyed, so that starting a loop takes no lock.
#pragma once

#include <optional>

#include <oneapi/tbb/task_arena.h>

#include "runtime/parallel/standby.h"

namespace tenon::runtime {

class Crew {
 public:
  /// `has_processors`: whether there is a processor for each thread.
  Crew(int threads, bool has_processors);

  int threads() const { return threads_; }
  /// Returns the arena. Precondition: more than one thread; a crew of one has no arena.
  tbb::task_arena& arena() { return *arena_; }
  Standby& standby() { return *standby_; }

 private:
  int threads_;
  std::optional<tbb::task_arena> arena_;
  std::optional<Standby> standby_;
};

/// Returns the crew for a loop that starts now. RuntimeError if TENON_NUM_THREADS is not a valid
/// number.
Crew& current_crew();

}  // namespace tenon::runtime
