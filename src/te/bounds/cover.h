// The range that covers several needs of one axis.
#pragma once

#include <vector>

#include "tenon/arith/interval.h"
#include "tenon/te/operation.h"

namespace tenon::te {

using tir::Expr;
using tir::Range;

/// The box hull of the sets; `declared` where nothing bounded is known. Simplified without facts,
/// so that the text is the one that readers know. Where that grows out of hand, as it does along a
/// chain of stages whose indices are clamped, the clamps are dropped: a tile and a halo of constant
/// size instead, or all of `declared` if that is no more.
Range cover(const std::vector<arith::Interval>& sets, const Range& declared,
            const arith::Facts& facts);

/// The hull as it is, however long its text; `declared` also where the hull is longer: padding
/// around a tile can reach beyond a tensor that is hardly larger than the tile. (Known texts show
/// the longer one.)
Range exact_cover(const std::vector<arith::Interval>& sets, const Range& declared,
                  const arith::Facts& facts);

/// The range in the axis' own type: readers may ask at wider indices than it counts with. What they
/// need lies within it; where their loops go beyond the last number of the type, the range is that
/// which ends with the axis.
Range in_type_of(const IterVar& axis, const Range& range, const arith::Facts& facts);

}  // namespace tenon::te
