// The rules of each kind of relation between axes, with one file per kind (split.cpp, fuse.cpp,
// ...). Ranges propagate from parents to children. Domains and indices propagate from children to
// parents (indices also in the other direction). A parent may need a guard because its children
// overshoot it.
//
// The sweeps over all relations of a stage are in te/relations/propagate.h. A rule with missing
// inputs does nothing.
#pragma once

#include <span>

#include "tenon/arith/interval.h"
#include "tenon/te/axis_map.h"
#include "tenon/te/relation.h"

namespace tenon::te {

using arith::Facts;
using arith::Interval;

/// The half-open range of every axis known so far.
using AxisRanges = AxisMap<Range>;
/// The values that are required of an axis.
using AxisDomains = AxisMap<Interval>;
/// The value of an axis in the current iteration.
using AxisValues = AxisMap<Expr>;
using AxisFlags = AxisMap<bool>;

/// The input and output of ranges_down.
struct RangeSweep {
  AxisRanges& ranges;
  /// The facts to which every new range is added.
  Facts& facts;
  /// Axes that keep the requested extent even if their parent is shorter: those from which a
  /// thread-bound leaf derives, because several stages may have to agree on the number of threads.
  /// Null means all axes.
  const AxisFlags* keeps_extent = nullptr;

  void set(const IterVar& axis, Expr extent);
};

void ranges_down(const Split& split, RangeSweep& sweep);
void ranges_down(const Fuse& fuse, RangeSweep& sweep);
void ranges_down(const Rebase& rebase, RangeSweep& sweep);
void ranges_down(const Singleton& singleton, RangeSweep& sweep);
void ranges_down(const Transform& transform, RangeSweep& sweep);

/// Compute the parents' domain that contains every point whose children are in their domains.
void domains_up(const Split& split, const AxisRanges& ranges, AxisDomains& domains);
void domains_up(const Fuse& fuse, const AxisRanges& ranges, AxisDomains& domains);
void domains_up(const Rebase& rebase, const AxisRanges& ranges, AxisDomains& domains);
void domains_up(const Singleton& singleton, const AxisRanges& ranges, AxisDomains& domains);
void domains_up(const Transform& transform, const AxisRanges& ranges, AxisDomains& domains);

void index_up(const Split& split, const AxisRanges& ranges, AxisValues& values);
void index_up(const Fuse& fuse, const AxisRanges& ranges, AxisValues& values);
void index_up(const Rebase& rebase, const AxisRanges& ranges, AxisValues& values);
void index_up(const Singleton& singleton, const AxisRanges& ranges, AxisValues& values);
void index_up(const Transform& transform, const AxisRanges& ranges, AxisValues& values);

/// Compute the children from the parents. For every point of the parents,
/// index_up(index_down(point)) == point.
void index_down(const Split& split, const AxisRanges& ranges, AxisValues& values);
void index_down(const Fuse& fuse, const AxisRanges& ranges, AxisValues& values);
void index_down(const Rebase& rebase, const AxisRanges& ranges, AxisValues& values);
void index_down(const Singleton& singleton, const AxisRanges& ranges, AxisValues& values);
void index_down(const Transform& transform, const AxisRanges& ranges, AxisValues& values);

/// Mark parents whose value, computed from the children, may exceed the range, because a child may
/// exceed its own range or because the product of the children's extents is larger than the
/// parent's.
void guards_up(const Split& split, const AxisRanges& ranges, const Facts& facts,
               AxisFlags& guarded);
void guards_up(const Fuse& fuse, const AxisRanges& ranges, const Facts& facts, AxisFlags& guarded);
void guards_up(const Rebase& rebase, const AxisRanges& ranges, const Facts& facts,
               AxisFlags& guarded);
void guards_up(const Singleton& singleton, const AxisRanges& ranges, const Facts& facts,
               AxisFlags& guarded);
void guards_up(const Transform& transform, const AxisRanges& ranges, const Facts& facts,
               AxisFlags& guarded);

/// Returns the roots whose required range exceeds the one in which a new axis has the single value
/// that the inverse assumes, such as the only block of five columns out of eight, or an axis of one
/// element. Iterations with other values would repeat elements or, if loops start at the required
/// minimum, compute elements that are not required. Of the relations before the layout, only those
/// that rebase a root to 0 are considered.
std::vector<IterVar> roots_beyond_inverse(const Transform& transform,
                                          std::span<const Relation> relations,
                                          const AxisRanges& ranges, const Facts& facts);

// ---- shared by several relations ----------------------------------------------------------------

/// Whether a value has too many nodes for bound computation. A fused axis is used twice, as
/// quotient and remainder, so repeated splits and fusions double the values of axes.
bool is_large(const Expr& value);
/// Whether the domain is the whole range.
bool covers(const Interval& domain, const Range& range);
/// Whether the expressions are provably equal for all values of their variables.
bool provably_equal(const Expr& a, const Expr& b);
/// Whether minimum and extent are provably equal.
bool same_range(const Range& a, const Range& b);
/// Returns value + offset, omitting a literal zero.
Expr shifted(const Expr& value, const Expr& offset);
/// Returns value - offset, omitting a literal zero.
Expr unshifted(const Expr& value, const Expr& offset);

}  // namespace tenon::te
