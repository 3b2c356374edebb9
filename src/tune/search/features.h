// Features of a program for cost models: a list of numbers for each store.
//
// They are computed from the loops that the block program lowers to, and follow Ansor's model
// (Zheng et al., OSDI 2020): the operations, the execution of the surrounding loops, the footprint
// and reuse of each array's accesses, and the operations per byte at each loop depth.
#pragma once

#include <vector>

#include "tenon/tir/function.h"

namespace tenon::tune {

/// One row of feature_count() numbers per store, in textual order. An amount x is represented as
/// log2(1 + |x|).
using Features = std::vector<std::vector<float>>;
std::size_t feature_count();

/// Returns the number of executions of a store, represented as log2(1 + |x|) like all amounts.
float iterations_of(const std::vector<float>& row);

/// Returns the features of loops without blocks (loops_of).
Features features_of(const tir::IRModule& loops);

}  // namespace tenon::tune
