// What guards leave of the reach of a reader, for exact bounds. Loops that a split makes longer
// than what they divide come to iterations in which some axis lies beyond its range; nothing is
// read in them.
#pragma once

#include <span>

#include "te/relations/propagate.h"
#include "tenon/arith/interval.h"

namespace tenon::te {

/// The indices along one axis of a reader, counted from the begin of the range that it is guarded
/// to stay in. An iteration is idle if they all lie beyond it.
struct Reach {
  arith::Interval offsets;
  std::int64_t extent;
};
using Reaches = std::vector<Reach>;

/// Nothing is added where the ends or the extent are not known.
void add_reach(const arith::Interval& indices, const Range& range, const arith::Facts& facts,
               Reaches& reaches);

/// Takes idle iterations from the ends of the loop's values. `around`: what loops can be that
/// `values` does not name.
void trim_idle_iterations(const Var& loop, const Reaches& reaches, const arith::IntervalMap& around,
                          const arith::Facts& facts, arith::IntervalMap& values);

/// `all`, what is needed in all iterations, where `one` is needed in one of them: if that goes with
/// a reach, in steps of a constant ratio, it ends where the reach is at an end of its range.
///
///   one = [4*o + i + 3, 4*o + i + 5], 4*o + i in [0, 10):   all = [3, 14]
///   one = [2*o + i + 1, 2*o + i + 1], 4*o + 2*i in [0, 10):   all = [1, 5]
arith::Interval not_beyond(const Reaches& reaches, const arith::Interval& one, arith::Interval all,
                           const arith::Facts& facts);

/// `set` cut to `domain`; each holds all that is read. An end alone is cut only between constants:
/// cut against a loop's variable, an interval could have less than no elements.
arith::Interval within(const arith::Interval& set, const arith::Interval& domain,
                       const arith::Facts& facts);

/// Whichever is known to be shorter of two that each hold all that is read; `a` if none is.
const arith::Interval& shorter(const arith::Interval& a, const arith::Interval& b,
                               const arith::Facts& facts);

/// With the last value of the domain in the place of what lies beyond it. Of an interval that
/// begins beyond it, which nobody reads, the last value is left. Precondition: the set begins in or
/// behind the domain.
arith::Interval clamped(const arith::Interval& set, const arith::Interval& domain,
                        const arith::Facts& facts);

/// The index of every axis in terms of the leaves, simplified. An axis that was split and fused
/// together again is the fused one, with no quotients and remainders in between. Axes whose index
/// is large (is_large) have none.
AxisValues simple_indices(const std::vector<Relation>& relations, const AxisRanges& ranges,
                          AxisValues leaves, const arith::Facts& facts);

}  // namespace tenon::te
