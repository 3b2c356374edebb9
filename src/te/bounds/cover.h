// The range that covers several requirements on one axis.
#pragma once

#include <vector>

#include "tenon/arith/interval.h"
#include "tenon/te/operation.h"

namespace tenon::te {

using tir::Expr;
using tir::Range;

/// Returns the hull of the sets; `declared` if it is unbounded. Simplified without facts, as in TVM
/// 0.9 text. If the expression becomes too large, as along a chain of stages with clamped indices,
/// the clamps are dropped: the result is a tile and a halo of constant size, or all of `declared`
/// if that is not larger.
Range cover(const std::vector<arith::Interval>& sets, const Range& declared,
            const arith::Facts& facts);

/// Returns the hull regardless of its size as an expression. Returns `declared` if the hull is
/// longer, because padding around a tile can exceed a tensor that is little larger than the tile.
/// (TVM 0.9 keeps the longer range.)
Range exact_cover(const std::vector<arith::Interval>& sets, const Range& declared,
                  const arith::Facts& facts);

/// Returns the range in the axis's own type. Readers may use wider indices, but their requirements
/// are inside the axis. If a reader's loops exceed the axis's type, the range ends at the end of
/// the axis.
Range in_type_of(const IterVar& axis, const Range& range, const arith::Facts& facts);

}  // namespace tenon::te
