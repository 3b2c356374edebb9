// Reductions that the threads of a block share: every number of threads from 1 to 65, in blocks of
// several groups, bound to one, two and three thread axes; a sum, a minimum and an argmax each.
//
//   check_thread_reductions({{.extent = 33, .groups = 3, .axes = 2}}, Target("opencl"))   // ""
#pragma once

#include <tenon/tenon.h>

namespace tenon::fuzz {

/// `extent` threads reduce; with two axes twice as many and with three six times, along axes of
/// their own. So do `groups` of them side by side: threads of the block, or where no thread axis is
/// left, blocks.
struct ThreadReduction {
  int extent;
  int groups;
  int axes;
};

/// All cases: extents 1 to 65, groups of 1, 3 and 16, one to three axes.
std::vector<ThreadReduction> all_thread_reductions();
/// Returns the number of threads per block.
int threads_of(const ThreadReduction& c);

struct ThreadReductionProgram {
  te::Schedule schedule;
  std::vector<LowerArgument> args;
};

/// A kernel for each case, which must compute what the default schedule does.
ThreadReductionProgram thread_reduction_program(const std::vector<ThreadReduction>& cases);

/// A kernel for each case, all of them in one module. "" if the interpreter and the target's device
/// compute what the default schedule computes; else the first that is wrong. A block has up to 2080
/// threads, which the target must allow.
std::string check_thread_reductions(const std::vector<ThreadReduction>& cases, const Target& target,
                                    bool interpret = true);

}  // namespace tenon::fuzz
