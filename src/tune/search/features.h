// Features of programs for the learned cost model: work, memory traffic, and vectors of numbers.
#pragma once

#include <vector>

#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::tune {

/// One row of feature_count() numbers per store, in textual order. A quantity x is represented as
/// log2(1 + |x|).
using Features = std::vector<std::vector<float>>;
std::size_t feature_count();

/// Returns the iteration count of a store from its row, as log2(1 + |x|).
float iterations_of(const std::vector<float>& row);

/// Returns the features of loops without blocks, as returned by loops_of.
Features features_of(const tir::IRModule& loops);

// Estimate of the data that a program's loops move into the caches of a core, from the footprint of
// each loop.
//
// If the footprint of a loop fits a cache, it is fetched once and reused by the loop around; data
// that does not depend on that loop is fetched again only by loops further out (the working sets of
// Wolf and Lam, "A Data Locality Optimizing Algorithm", PLDI 1991). Rows at distances that map to a
// few sets of the cache need as many ways of those sets.

/// Traffic in cache lines of 64 bytes.
struct Traffic {
  double into_l1 = 0, into_l2 = 0;
};

/// Estimates the traffic of loops without blocks, as returned by loops_of, on one core.
Traffic traffic_of(const tir::IRModule& loops, const tir::CacheBytes& caches);

// Estimate of the instructions that a program executes, counted on the final loops.
//
// The loops of a candidate differ from its final code: loops are vectorized and jammed, and
// accumulators are promoted to registers. Instructions are therefore counted after these passes,
// per full register, times the iteration counts of their loops. Typical throughputs and latencies
// give an estimate of the time, from which a cost model starts. The method is that of llvm-mca,
// without a table of the instructions of one processor.

/// Counts of executed instructions. Repeated loads of a value count once, and loop-invariant loads
/// are counted outside the loop.
struct Work {
  /// Arithmetic on values, per register; a multiply-add counts once.
  double operations = 0;
  /// Accesses: loads and stores of consecutive elements, per register; broadcasts of single
  /// elements; and gathers of strided elements, per element.
  double loads = 0, broadcasts = 0, gathered = 0, stores = 0;
  /// Calls of functions such as exp.
  double calls = 0;
  /// Index arithmetic, except for values that change by a constant per iteration.
  double indices = 0;
  double iterations = 0, guards = 0;
  /// Registers spilled; their loads and stores are included above.
  double spills = 0;
  /// Additions that depend on the previous one, in registers and in memory.
  double waits = 0, memory_waits = 0;
  /// Estimated cycles of all these instructions, if all data is in the first-level cache.
  double cycles = 0;
  /// Number of stores in the program text.
  double statements = 0;
  /// Maximum number of registers used by accumulators.
  double sums = 0;

  /// Returns all these numbers, as features of the cost model.
  std::vector<double> amounts() const;
};

/// Estimates loops without blocks, as returned by loops_of, on a processor with these registers.
/// Throws LowerError for a program that cannot be lowered.
Work work_of(const tir::IRModule& loops, const tir::TargetFacts& target);

}  // namespace tenon::tune
