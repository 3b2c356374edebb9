// Tuning on many processes and machines: the same program under `mpirun`.
//
//   int main(int argc, char** argv) {
//     const std::shared_ptr<tune::Fleet> ranks = tune::join_ranks(argc, argv);   // first of all
//     ...
//     tune::tune_tir({.mod = mod, ..., .fleet = ranks});
//   }
//
//   mpirun --enable-recovery -n 5 ./program        # one that searches, four that measure
//
// With --enable-recovery a process that dies costs what it was at work on; without it, mpirun ends
// all of them.
#pragma once

#include <memory>

#include "tenon/tune/fleet.h"

namespace tenon::tune {

/// Under mpirun, on the first of several processes: the others. There `join_ranks` does not return:
/// they measure until the first one ends, and exit with status 0. Null: this process is alone.
/// RuntimeError: started by mpirun with others, and this installation of Tenon has no support for
/// MPI (it was built where Boost.MPI was not found), or MPI refuses.
std::shared_ptr<Fleet> join_ranks(int& argc, char**& argv);

}  // namespace tenon::tune
