// The number of threads that parallel loops in generated code use.
//
//   runtime::set_num_threads(2);
//   mod["matmul"](a, b, c);       // at most two threads, including the calling one
//
// The default is the environment variable TENON_NUM_THREADS, read once, or else the number of
// processors available to this process (according to its cpuset and cgroup quota). Threads are not
// pinned. In a child after fork(), loops run on one thread.
#pragma once

#include "tenon/support/error.h"

namespace tenon::runtime {

/// Maximum number of threads of a parallel loop.
inline constexpr int kMaxThreads = 4096;

/// Sets the number for subsequent loops; 0 restores the default. It may exceed the number of
/// processors. RuntimeError for a number that is negative or above kMaxThreads.
void set_num_threads(int n, SourceLocation where = SourceLocation::current());

/// Returns the number. RuntimeError if TENON_NUM_THREADS is not a valid number.
int num_threads();

}  // namespace tenon::runtime
