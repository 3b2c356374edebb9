// The threads of parallel loops.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <optional>
#include <string_view>

#include "runtime/parallel/standby.h"

namespace tenon::runtime {

/// The threads that execute parallel loops. There is one crew for each number of threads that was
/// ever set. A loop keeps the crew that it started with, even if the number is set again. Crews are
/// never destroyed, so that starting a loop takes no lock.
class Crew {
 public:
  /// `has_processors`: whether there are at least as many processors as threads.
  Crew(int threads, bool has_processors);

  int threads() const { return threads_; }
  /// Returns the TBB arena in which loops run. Precondition: more than one thread; a crew of one
  /// thread has no arena.
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

// State shared by parallel loops and parallel regions: whether the calling thread is inside one.

/// Whether the calling thread is inside the body of a parallel loop.
bool in_parallel_loop();
/// Whether the calling thread is inside a task of a parallel region.
bool in_parallel_region();

// Parsers for the number of threads that the environment requests. They have their own file, so
// that a test can link them. The library exports only the declarations of public headers.

/// Parses TENON_NUM_THREADS. RuntimeError if it is not a valid number of threads.
int parse_num_threads(std::string_view text);

/// Returns the number of processors of a control group's quota, at least 1, rounded up; nullopt
/// without a quota. `text` is the content of cpu.max (version 2, "200000 100000"), or quota and
/// period of version 1 separated by a blank.
std::optional<int> processors_of_quota(std::string_view text);

}  // namespace tenon::runtime
