// Bound inference by the rules of Apache TVM 0.9's te, which ended there: for the comparison of
// `bench/bounds`. A second, shorter telling than that of te/bounds, of computes alone; the
// allocations in texts that TVM printed are what it is held against (tests/golden).
//
// From readers to producers, each stage:
// - Of a reader, loops outside of the producer's place are symbols, those inside take their ranges.
//   Threads go by what they share: one that the memory is not shared along is a symbol.
// - Those domains go up the reader's relations: whole ranges to whole ranges, else by interval
//   arithmetic, in which a fused stretch that may cross a row is all columns.
// - An index has the interval that its terms have apart. Both of its ends are cut to the shape if
//   both provably pass it, of which only constants can be sure: loops around have no ranges here.
// - What readers need is united to a box, each end the least or greatest of all, and taken as it
//   is, also where it is longer than the tensor. It goes down to the loops; a split's inner loop is
//   no longer than its parent where that is provably shorter.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/te/axis_map.h"
#include "tenon/te/graph.h"

namespace tenon::testing {

/// The range of every axis; nullopt if an operation is no compute, or an axis is split, fused and
/// rebased not alone.
std::optional<te::AxisMap<tir::Range>> reference_bounds(const te::StageGraph& graph);

/// The greatest extents that the memory of a stage has in any iteration of the loops around it;
/// nullopt beyond a million iterations, and of symbolic sizes.
std::optional<std::vector<std::int64_t>> greatest_extents(const te::StageGraph& graph,
                                                          te::StageId stage,
                                                          const te::AxisMap<tir::Range>& ranges);

}  // namespace tenon::testing
