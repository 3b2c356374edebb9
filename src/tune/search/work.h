// Estimate of the instructions that a program executes, counted on the final loops.
//
// A candidate's loops differ from its code: they are vectorized and jammed, and accumulators are
// promoted to registers. Instructions are therefore counted after these passes, in full registers,
// as often as their loops run. Their throughputs and latencies on a current machine give an
// estimate of the time (similar to llvm-mca's, without a table of one processor's instructions),
// from which a model starts.
#pragma once

#include <vector>

#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::tune {

/// Counts of executed instructions. Repeated loads of a value count once, and loop-invariant loads
/// are hoisted.
struct Work {
  /// Arithmetic on values, per register; a multiply-add counts once.
  double operations = 0;
  /// Accesses to consecutive elements, per register; to single elements, for all lanes; and to
  /// strided elements, one by one.
  double loads = 0, broadcasts = 0, gathered = 0, stores = 0;
  /// Calls of functions such as exp.
  double calls = 0;
  /// Index arithmetic, without values that change by a constant per iteration.
  double indices = 0;
  double iterations = 0, guards = 0;
  /// Values without a register until their last use; their loads and stores are included.
  double spills = 0;
  /// Sums that wait for the previous one, in registers and in memory.
  double waits = 0, memory_waits = 0;
  /// Estimated cycles for all of that, if all data is in the first-level cache (traffic.h).
  double cycles = 0;
  /// Number of statements in the text.
  double statements = 0;
  /// Maximum number of registers used by accumulators.
  double sums = 0;

  /// Returns the numbers above, in order.
  std::vector<double> amounts() const;
};

/// Estimates loops without blocks (loops_of), on a processor with these registers. LowerError for a
/// program that cannot be lowered.
Work work_of(const tir::IRModule& loops, const tir::TargetFacts& target);

}  // namespace tenon::tune
