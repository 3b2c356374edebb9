// What follows from a relation between axes, for each kind of relation on a page of its own
// (split.cpp, fuse.cpp, ...): ranges go down from parents to children, domains and indices come up
// from children to parents (indices also go down), and a parent may need a guard because its
// children count further than it does.
//
// The sweeps over all relations of a stage are in te/propagate.h. A rule whose inputs are missing
// does nothing.
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
/// The set of values that is needed of an axis.
using AxisDomains = AxisMap<Interval>;
/// The value of an axis at the current iteration.
using AxisValues = AxisMap<Expr>;
using AxisFlags = AxisMap<bool>;

/// Where ranges_down reads and writes.
struct RangeSweep {
  AxisRanges& ranges;
  /// Every range found is bound here.
  Facts& facts;
  /// Axes whose extent stays what the user asked for, even where their parent is shorter: those
  /// from which a thread-bound leaf derives, because several stages may have to agree on the number
  /// of threads. Null: all of them.
  const AxisFlags* keeps_extent = nullptr;

  void set(const IterVar& axis, Expr extent);
};

void ranges_down(const Split& split, RangeSweep& sweep);
void ranges_down(const Fuse& fuse, RangeSweep& sweep);
void ranges_down(const Rebase& rebase, RangeSweep& sweep);
void ranges_down(const Singleton& singleton, RangeSweep& sweep);
void ranges_down(const Transform& transform, RangeSweep& sweep);

/// The parents' domain that contains every point whose children lie in theirs.
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

/// The inverse: for every point of the parents, index_up(index_down(point)) == point.
void index_down(const Split& split, const AxisRanges& ranges, AxisValues& values);
void index_down(const Fuse& fuse, const AxisRanges& ranges, AxisValues& values);
void index_down(const Rebase& rebase, const AxisRanges& ranges, AxisValues& values);
void index_down(const Singleton& singleton, const AxisRanges& ranges, AxisValues& values);
void index_down(const Transform& transform, const AxisRanges& ranges, AxisValues& values);

/// Whether a parent's value, computed from its children, may pass its range: because a child's may,
/// or because the children's ranges multiply to more than the parent's.
void guards_up(const Split& split, const AxisRanges& ranges, const Facts& facts,
               AxisFlags& guarded);
void guards_up(const Fuse& fuse, const AxisRanges& ranges, const Facts& facts, AxisFlags& guarded);
void guards_up(const Rebase& rebase, const AxisRanges& ranges, const Facts& facts,
               AxisFlags& guarded);
void guards_up(const Singleton& singleton, const AxisRanges& ranges, const Facts& facts,
               AxisFlags& guarded);
void guards_up(const Transform& transform, const AxisRanges& ranges, const Facts& facts,
               AxisFlags& guarded);

/// The roots that are needed from beyond where a new axis still has the one value that the inverse
/// takes it to have: the only block of five columns out of eight, or an axis of one element.
/// Iterations with other values of it would compute again what those with that value do, or, where
/// loops count from where the need begins, nothing that is needed. Of the relations before the
/// layout only those are asked that count a root from 0.
std::vector<IterVar> roots_beyond_inverse(const Transform& transform,
                                          std::span<const Relation> relations,
                                          const AxisRanges& ranges, const Facts& facts);

// ---- what several pages need --------------------------------------------------------------------

/// Whether a value has more nodes than bounds are computed with: a fused axis is used twice, as
/// quotient and remainder, so that rounds of split and fuse double the values of axes with each.
bool is_large(const Expr& value);
/// Whether the domain is the whole range.
bool covers(const Interval& domain, const Range& range);
/// Whether the two are provably equal, whatever the variables in them are.
bool provably_equal(const Expr& a, const Expr& b);
/// Whether minimum and extent are.
bool same_range(const Range& a, const Range& b);
/// value + offset, without the addition of a literal zero.
Expr shifted(const Expr& value, const Expr& offset);
/// value - offset, likewise.
Expr unshifted(const Expr& value, const Expr& offset);

}  // namespace tenon::te
