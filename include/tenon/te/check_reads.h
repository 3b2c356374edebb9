// Refuses reads that are provably out of bounds, and returns the conditions on symbolic sizes that
// remain to be checked.
//
//   check_reads(graph, bounds, Outside::Partly);      // A(i + 1) for i < 100, of 100 elements: BoundError
//                                                     // A(i) for i < m, of n elements: m <= 0 || m <= n
#pragma once

#include <vector>

#include "tenon/arith/iteration_box.h"
#include "tenon/te/infer_bound.h"

namespace tenon::te {

/// The reads to refuse: those whose elements are all out of bounds, or those with any element out
/// of bounds.
enum class Outside { Wholly, Partly };

/// Throws BoundError, naming the line of the reading operation, for an unconditional read that is
/// provably out of bounds. Analyses affine indices, and their quotients by constants, of stages at
/// root. With symbolic extents, `Partly` refuses reads that are out of bounds for every size at
/// which anything is read, and returns the conditions under which the others are in bounds, without
/// those that provably hold. Reads that are not analysed are checked at run time by
/// `instrument_bounds`.
std::vector<arith::SizeCondition> check_reads(const StageGraph& graph, const Bounds& bounds,
                                              Outside refused);

}  // namespace tenon::te
