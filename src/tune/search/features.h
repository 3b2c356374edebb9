// Features of a program for cost models: a list of numbers for each store.
//
// They are computed from the loops that the block program lowers to, and follow Ansor's model
// (Zheng et al., OSDI 2020): the operations, the execution of the surrounding loops, the footprint
// and reuse of each array's accesses, and the operations per byte at each loop depth.
#pragma once

#include <vector>

#include "tenon/tir/function.h"

namespace tenon::tune {

/// One row of feature_count() numbers per store, in textual order. A quantity x is represented as
/// log2(1 + |x|).
using Features = std::vector<std::vector<float>>;
std::size_t feature_count();

/// Returns the iteration count of a store from its row, as log2(1 + |x|).
float iterations_of(const std::vector<float>& row);

/// Returns the features of loops without blocks, as returned by loops_of.
Features features_of(const tir::IRModule& loops);

}  // namespace tenon::tune
