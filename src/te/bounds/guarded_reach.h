// The effect of guards on a reader's accesses, for exact bounds. Loops that overshoot a split axis
// have iterations in which some axis is out of range, and nothing is read in these iterations.
#pragma once

#include <span>

#include "te/relations/propagate.h"
#include "tenon/arith/interval.h"

namespace tenon::te {

/// The index of one axis of a reader, relative to the start of the range to which a guard restricts
/// it. An iteration is idle if the index is out of range.
struct Reach {
  arith::Interval offsets;
  std::int64_t extent;
};
using Reaches = std::vector<Reach>;

/// Adds a reach unless an end or the extent is unknown.
void add_reach(const arith::Interval& indices, const Range& range, const arith::Facts& facts,
               Reaches& reaches);

/// Removes idle iterations from the ends of the loop's values. `around` has the values of loops
/// that are not in `values`.
void trim_idle_iterations(const Var& loop, const Reaches& reaches, const arith::IntervalMap& around,
                          const arith::Facts& facts, arith::IntervalMap& values);

/// Restricts `all`, the requirement of all iterations, given `one`, the requirement of a single
/// iteration. If `one` is a linear function of a reach with a constant ratio, `all` ends where the
/// reach is at an end of its range.
///
///   one = [4*o + i + 3, 4*o + i + 5], 4*o + i in [0, 10):   all = [3, 14]
///   one = [2*o + i + 1, 2*o + i + 1], 4*o + 2*i in [0, 10):   all = [1, 5]
arith::Interval not_beyond(const Reaches& reaches, const arith::Interval& one, arith::Interval all,
                           const arith::Facts& facts);

/// Returns the intersection of `set` and `domain`, both of which contain everything that is read.
/// Restricting only one end requires both to be constant, because an interval cut at a loop
/// variable could have a negative extent.
arith::Interval within(const arith::Interval& set, const arith::Interval& domain,
                       const arith::Facts& facts);

/// Returns the provably shorter of two intervals that contain everything that is read; `a` if
/// neither is.
const arith::Interval& shorter(const arith::Interval& a, const arith::Interval& b,
                               const arith::Facts& facts);

/// Returns the set with values beyond the domain replaced by the domain's last value. A set that
/// starts beyond the domain, which is never read, becomes that value. Precondition: the set starts
/// inside or after the domain.
arith::Interval clamped(const arith::Interval& set, const arith::Interval& domain,
                        const arith::Facts& facts);

/// Returns the index of every axis in terms of the leaves, simplified. If an axis was split and its
/// parts were fused again, its index is the fused loop, without quotients and remainders. Omits
/// axes with large indices (is_large).
AxisValues simple_indices(const std::vector<Relation>& relations, const AxisRanges& ranges,
                          AxisValues leaves, const arith::Facts& facts);

}  // namespace tenon::te
