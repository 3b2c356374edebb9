// A block program for a device: what its schedule left to the host is bound to threads.
//
//   fit_blocks_for_device(sch);
//   check_functions(before, sch.mod().functions.at("main"), {.target = Target("opencl")});
#pragma once

#include "tenon/s_tir/schedule.h"

namespace tenon::testing {

/// Binds a loop around every block of `main` around which there is no thread yet, the outermost
/// that can be, to blocks or threads in turn. Memory that blocks of the host write becomes global.
/// What cannot be bound stays as it is. With a scope, all memory of blocks is of that one, as far
/// as it can be.
void fit_blocks_for_device(s_tir::Schedule& schedule, const std::string& scope = "");

}  // namespace tenon::testing
