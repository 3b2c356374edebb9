// How many threads a parallel loop of generated code may use.
//
//   runtime::set_num_threads(2);
//   mod["matmul"](a, b, c);       // at most two threads, this one among them
//
// The default is the variable TENON_NUM_THREADS, read once; without it, the number of processors
// that this process may run on (its cpuset and its cgroup's quota count). Threads are not pinned.
// In a child after fork() loops run on one thread.
#pragma once

#include "tenon/support/error.h"

namespace tenon::runtime {

/// That a parallel loop may use.
inline constexpr int kMaxThreads = 4096;

/// From the next loop on; 0 goes back to the default. More threads than processors are allowed.
/// Throws RuntimeError for a number that is negative or above kMaxThreads.
void set_num_threads(int n, SourceLocation where = SourceLocation::current());

/// Throws RuntimeError if TENON_NUM_THREADS holds no number of threads.
int num_threads();

}  // namespace tenon::runtime
