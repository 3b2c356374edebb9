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

/// The reads to refuse. Wholly: reads whose elements are all out of bounds. Partly: reads with at
/// least one element out of bounds.
enum class Outside { Wholly, Partly };

/// Throws BoundError, naming the line of the reading operation, for an unconditional read that is
/// provably out of bounds. Only stages at root are analysed, and only indices that are affine or
/// the quotient of an affine expression by a constant. `instrument_bounds` checks all other reads
/// at run time.
///
/// With symbolic extents, a read may be in bounds for some sizes only. `Partly` returns the
/// conditions on the sizes under which these reads are in bounds, except for conditions that
/// provably hold. `Partly` refuses a read that is out of bounds for every size for which anything
/// is read.
std::vector<arith::SizeCondition> check_reads(const StageGraph& graph, const Bounds& bounds,
                                              Outside refused);

}  // namespace tenon::te
