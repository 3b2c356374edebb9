// Sweeps over the relations of a stage: ranges, domains, indices and marks passed along from axis
// to axis. Each is a loop over relations and nothing else; what a relation means is in
// te/relations/.
//
//   AxisValues values;                       // of the leaf axes
//   pass_index_up(stage.relations, ranges, values);
//   values.at(root_axis)                     // its index in terms of the loops' variables
#pragma once

#include <span>

#include "te/relations/rules.h"

namespace tenon::te {

using Relations = std::span<const Relation>;

void pass_ranges_down(Relations relations, RangeSweep& sweep);
void pass_domains_up(Relations relations, const AxisRanges& ranges, AxisDomains& domains);
void pass_index_up(Relations relations, const AxisRanges& ranges, AxisValues& values);
void pass_index_down(Relations relations, const AxisRanges& ranges, AxisValues& values);

/// Every axis whose computed value may pass its range, given none of the leaves' does.
AxisFlags find_guarded(Relations relations, const AxisRanges& ranges, const Facts& facts);

/// Every axis that does not take all its values if one leaf stays at its minimum.
AxisFlags find_incomplete(Relations relations, const IterVar& stuck, const AxisRanges& ranges,
                          const Facts& facts);

/// Bits that meet: a child has all bits of its parents (mark_reached), a parent all bits of its
/// children (mark_sources).
using AxisMarks = AxisMap<unsigned>;
void mark_reached(Relations relations, AxisMarks& marks);
void mark_sources(Relations relations, AxisMarks& marks);

}  // namespace tenon::te
