// Sweeps over the relations of a stage, which propagate ranges, domains, indices and marks between
// axes. Each sweep is only a loop over relations; the rules of each relation are in te/relations/.
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

/// Returns every axis whose computed value may exceed its range, assuming that no leaf exceeds its
/// own.
AxisFlags find_guarded(Relations relations, const AxisRanges& ranges, const Facts& facts);

/// Returns every axis that does not take all its values if one leaf stays at its minimum.
AxisFlags find_incomplete(Relations relations, const IterVar& stuck, const AxisRanges& ranges,
                          const Facts& facts);

/// Propagate bits by union: a child has all bits of its parents (mark_reached), a parent all bits
/// of its children (mark_sources).
using AxisMarks = AxisMap<unsigned>;
void mark_reached(Relations relations, AxisMarks& marks);
void mark_sources(Relations relations, AxisMarks& marks);

}  // namespace tenon::te
