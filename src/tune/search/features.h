// Features of programs for the learned cost model: the work, the memory traffic, and vectors of
// numbers.
#pragma once

#include <vector>

#include "tenon/tir/function.h"
#include "tenon/tir/target.h"

namespace tenon::tune {

/// The features of a program: one row of feature_count() numbers per store, in textual order. A
/// quantity x is represented as log2(1 + |x|).
using Features = std::vector<std::vector<float>>;
std::size_t feature_count();

/// Returns the number of iterations from the row of a store, as log2(1 + |x|).
float iterations_of(const std::vector<float>& row);

/// Returns the features of a program that loops_of has lowered to loops without blocks.
Features features_of(const tir::IRModule& loops);

// Estimates the data that a program moves into the caches of a core, from the footprint of each
// loop.
//
//  If the footprint of a loop fits a cache, the data is fetched once and reused by the iterations of
//  the next outer loop. Data that does not depend on this outer loop is only fetched again by loops
//  further out (the working sets of Wolf and Lam, "A Data Locality Optimizing Algorithm", PLDI 1991).
//  If rows map to a few sets of the cache, they must fit the ways of these sets.

/// Traffic in cache lines of 64 bytes.
struct Traffic {
  double into_l1 = 0, into_l2 = 0;
};

/// Estimates the traffic on one core of a program that loops_of has lowered.
Traffic traffic_of(const tir::IRModule& loops, const tir::CacheBytes& caches);

// Estimates the instructions that a program executes.
//
//  The loops of a candidate differ from its final code, in which loops are vectorized and jammed and
//  accumulators are promoted to registers. Instructions are therefore counted after these passes, per
//  full register, and multiplied by the iteration counts of the loops. Typical throughputs and
//  latencies give an estimate of the time, which the cost model refines. The method is that of
//  llvm-mca, but without the instruction tables of a particular processor.

/// The numbers of executed instructions. Repeated loads of a value count once. Loop-invariant loads
/// count outside the loop.
struct Work {
  /// Arithmetic instructions on values; one instruction processes a full register. A multiply-add
  /// counts once.
  double operations = 0;
  /// Memory accesses. Loads and stores of consecutive elements count per register, broadcasts per
  /// element that is broadcast, and gathers of strided elements per element.
  double loads = 0, broadcasts = 0, gathered = 0, stores = 0;
  /// Calls of math functions such as exp.
  double calls = 0;
  /// Index arithmetic. Values that change by a constant per iteration do not count.
  double indices = 0;
  double iterations = 0, guards = 0;
  /// The number of spilled registers. Their loads and stores are included above.
  double spills = 0;
  /// Additions that have to wait for the previous addition to the same element, in registers and in
  /// memory.
  double waits = 0, memory_waits = 0;
  /// The estimated cycles of all these instructions, if all data is in the L1 cache.
  double cycles = 0;
  /// The number of stores in the program text.
  double statements = 0;
  /// The maximum number of registers that accumulators occupy at the same time.
  double sums = 0;

  /// Returns all these numbers as features for the cost model.
  std::vector<double> amounts() const;
};

/// Estimates the work of a program that loops_of has lowered, on the vector registers of the
/// target. Throws LowerError if the program cannot be lowered.
Work work_of(const tir::IRModule& loops, const tir::TargetFacts& target);

}  // namespace tenon::tune
