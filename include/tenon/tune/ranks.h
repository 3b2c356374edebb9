// Tuning on several processes and machines by running one program under `mpirun`.
//
//   int main(int argc, char** argv) {
//     const std::shared_ptr<tune::Fleet> ranks = tune::join_ranks(argc, argv);   // first statement
//     ...
//     tune::tune_tir({.mod = mod, ..., .fleet = ranks});
//   }
//
//   mpirun --enable-recovery -n 5 ./program        # one that searches, four that measure
//
// With --enable-recovery, a process that dies loses only its current candidate. Without it, mpirun
// ends all processes.
#pragma once

#include <memory>

#include "tenon/tune/fleet.h"

namespace tenon::tune {

/// Under mpirun, returns the other processes in process 0. In the others it does not return: they
/// measure until process 0 ends, and exit with status 0. Returns null if the program runs alone.
/// RuntimeError if it was started by mpirun with other processes and this installation has no MPI
/// support (Boost.MPI was not found when it was built), or if MPI fails.
std::shared_ptr<Fleet> join_ranks(int& argc, char**& argv);

}  // namespace tenon::tune
