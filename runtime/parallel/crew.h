// The threads that run parallel loops, as set at one moment. A loop keeps the crew that it started
// with. There is one crew for each number of threads that was ever set, and it is never destroyed,
// so that starting a loop takes no lock.
#pragma once

#include <optional>

#include <oneapi/tbb/task_arena.h>

#include "runtime/parallel/standby.h"

namespace tenon::runtime {

class Crew {
 public:
  /// Whether there is a processor for each.
  Crew(int threads, bool has_processors);

  int threads() const { return threads_; }
  /// Not for a crew of one: it has no use for an arena, and makes none.
  tbb::task_arena& arena() { return *arena_; }
  Standby& standby() { return *standby_; }

 private:
  int threads_;
  std::optional<tbb::task_arena> arena_;
  std::optional<Standby> standby_;
};

/// The crew for a loop that starts now. Throws RuntimeError if TENON_NUM_THREADS holds no number of
/// threads.
Crew& current_crew();

}  // namespace tenon::runtime
