// What a processor has to do to run a program: instructions of each kind, counted on the loops that
// code is made of.
//
// A candidate's loops say little about its code: on the way loops are made vectors and jammed, and
// their sums are kept in registers. So instructions are counted behind all of that, in whole
// registers, each as often as its loops run. What they and their dependences cost on a machine of
// today gives a guess of the time (as llvm-mca's, without a table of one processor's instructions),
// which a model starts from.
#pragma once

#include <vector>

#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::tune {

/// As often as they run. What was just read is not read again, and what stands still in a loop is
/// read outside of it.
struct Work {
  /// On numbers, a register at a time; a product that is added is one with the sum.
  double operations = 0;
  /// Of neighbours, a register at a time; of single elements, for all lanes or none; of elements
  /// that are apart, one by one.
  double loads = 0, broadcasts = 0, gathered = 0, stores = 0;
  /// Of functions such as exp.
  double calls = 0;
  /// On indices, but for what grows by a constant in a loop.
  double indices = 0;
  double iterations = 0, guards = 0;
  /// What was read and finds no register until its last use; loads and stores have its ways too.
  double spills = 0;
  /// Sums that wait for the one before, in registers and in memory.
  double waits = 0, memory_waits = 0;
  /// Of the processor, for all of that, as if the first cache held everything (traffic.h).
  double cycles = 0;
  /// In the text.
  double statements = 0;
  /// Registers that sums take, where they take most.
  double sums = 0;

  /// The numbers above, in order.
  std::vector<double> amounts() const;
};

/// Of loops without blocks (loops_of), on a processor with these registers. LowerError for a
/// program that cannot be lowered.
Work work_of(const tir::IRModule& loops, const tir::TargetFacts& target);

}  // namespace tenon::tune
