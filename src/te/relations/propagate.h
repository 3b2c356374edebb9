// Sweeps over the relations of a stage, which propagate ranges, domains, indices and marks between
// axes, and the rules of each relation that they apply.
//
//   AxisValues values;                       // of the leaf axes
//   pass_index_up(stage.relations, ranges, values);
//   values.at(root_axis)                     // its index in terms of the loops' variables
#pragma once

#include <span>

#include "tenon/arith/interval.h"
#include "tenon/te/axis_map.h"
#include "tenon/te/relation.h"

namespace tenon::te {

// The rules of each kind of relation between axes, in one file per kind (split.cpp, fuse.cpp, ...).
// Ranges propagate from parents to children. Domains propagate from children to parents. Indices
// propagate in both directions. Guards mark parents that the children overshoot. A rule does
// nothing if its inputs are missing.

using arith::Facts;
using arith::Interval;

/// The half-open range of every axis known so far.
using AxisRanges = AxisMap<Range>;
/// The values that are required of an axis.
using AxisDomains = AxisMap<Interval>;
/// The value of an axis in the current iteration.
using AxisValues = AxisMap<Expr>;
using AxisFlags = AxisMap<bool>;

/// Compute the ranges of the children and add them to the facts. `keeps_extent` marks axes that
/// keep the requested extent of a split even if the parent is shorter. These are the axes from
/// which a thread-bound leaf derives, because several stages may have to agree on the number of
/// threads. Null means all axes.
void ranges_down(const Split& split, AxisRanges& ranges, Facts& facts,
                 const AxisFlags* keeps_extent);
void ranges_down(const Fuse& fuse, AxisRanges& ranges, Facts& facts);
void ranges_down(const Rebase& rebase, AxisRanges& ranges, Facts& facts);
void ranges_down(const Singleton& singleton, AxisRanges& ranges, Facts& facts);
void ranges_down(const Transform& transform, AxisRanges& ranges, Facts& facts);

/// Compute domains of the parents that contain every point whose children are in their own domains.
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

/// Compute the values of the children from the values of the parents. For every point of the
/// parents, index_up(index_down(point)) == point.
void index_down(const Split& split, const AxisRanges& ranges, AxisValues& values);
void index_down(const Fuse& fuse, const AxisRanges& ranges, AxisValues& values);
void index_down(const Rebase& rebase, const AxisRanges& ranges, AxisValues& values);
void index_down(const Singleton& singleton, const AxisRanges& ranges, AxisValues& values);
void index_down(const Transform& transform, const AxisRanges& ranges, AxisValues& values);

/// Mark parents that need a guard: their value, computed from the children, may exceed their range.
/// Either a child may exceed its own range, or the product of the children's extents is larger than
/// the parent's extent.
void guards_up(const Split& split, const AxisRanges& ranges, const Facts& facts,
               AxisFlags& guarded);
void guards_up(const Fuse& fuse, const AxisRanges& ranges, const Facts& facts, AxisFlags& guarded);
void guards_up(const Rebase& rebase, const AxisRanges& ranges, const Facts& facts,
               AxisFlags& guarded);
void guards_up(const Singleton& singleton, const AxisRanges& ranges, const Facts& facts,
               AxisFlags& guarded);
void guards_up(const Transform& transform, const AxisRanges& ranges, const Facts& facts,
               AxisFlags& guarded);

/// Returns the root axes whose required range exceeds the range that the transform's inverse
/// assumes. The inverse assumes a single value for some new axes, such as the only block of five
/// columns out of eight, or an axis of one element. For other values, the inverse would repeat
/// elements. If the loops started at the required minimum, they would compute elements that are not
/// required. `relations` are the relations before the layout. Only the relations that rebase a root
/// to 0 are considered.
std::vector<IterVar> roots_beyond_inverse(const Transform& transform,
                                          std::span<const Relation> relations,
                                          const AxisRanges& ranges, const Facts& facts);

// ---- shared by several relations ----------------------------------------------------------------

/// Sets the range of the axis to [0, extent), and adds it to the facts.
void set_range(const IterVar& axis, Expr extent, AxisRanges& ranges, Facts& facts);
/// Whether a value has too many nodes for bound computation. A fused axis is used twice, as
/// quotient and remainder, so the values of axes grow exponentially with repeated splits and
/// fusions.
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

// ---- sweeps -------------------------------------------------------------------------------------

using Relations = std::span<const Relation>;

/// See ranges_down for `keeps_extent`.
void pass_ranges_down(Relations relations, AxisRanges& ranges, Facts& facts,
                      const AxisFlags* keeps_extent = nullptr);
void pass_domains_up(Relations relations, const AxisRanges& ranges, AxisDomains& domains);
void pass_index_up(Relations relations, const AxisRanges& ranges, AxisValues& values);
void pass_index_down(Relations relations, const AxisRanges& ranges, AxisValues& values);

/// Returns every axis whose computed value may exceed its range even if every leaf is in its own
/// range.
AxisFlags find_guarded(Relations relations, const AxisRanges& ranges, const Facts& facts);

/// Returns every axis that does not take all its values if the leaf `stuck` stays at its minimum.
AxisFlags find_incomplete(Relations relations, const IterVar& stuck, const AxisRanges& ranges,
                          const Facts& facts);

/// Return the set of these axes and all axes that derive from one of them, and the set of these
/// axes and all axes that one of them derives from. Flags of other axes are not set.
AxisFlags derived_from(std::span<const IterVar> axes, Relations relations);
AxisFlags sources_of(std::span<const IterVar> axes, Relations relations);

}  // namespace tenon::te
