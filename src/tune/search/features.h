// What a cost model sees of a program: numbers for each of its stores.
//
// They are read from the loops that the block program lowers to, and are those of Ansor's model
// (Zheng et al., OSDI 2020): what is computed, how the loops around run, what each array's accesses
// touch and touch again, and how much is computed for each byte touched at each depth of loops.
#pragma once

#include <vector>

#include "tenon/tir/function.h"

namespace tenon::tune {

/// A row for each store, in the order of the text; all rows are of feature_count() numbers. Amounts
/// x stand as log2(1 + |x|).
using Features = std::vector<std::vector<float>>;
std::size_t feature_count();

/// Of a store: how often it runs, as an amount.
float iterations_of(const std::vector<float>& row);

/// Of loops without blocks (loops_of).
Features features_of(const tir::IRModule& loops);

}  // namespace tenon::tune
