// Common steps of the dataflow rewrites (cache_read, cache_write, rfactor).
#pragma once

#include "te/relations/propagate.h"
#include "te/schedule/stage_edit.h"

namespace tenon::te {

/// Makes axes ax0, ax1, ..., one data-parallel axis per dimension.
std::vector<IterVar> numbered_axes(const std::vector<Expr>& shape);

/// Returns the conditions that the values of root axes, computed from the leaves, are in their
/// ranges. Omits conditions that provably hold.
std::vector<Expr> guards_of(const StageData& stage, std::span<const IterVar> roots,
                            const AxisRanges& ranges, const AxisValues& values,
                            arith::Facts& facts);

Expr zero_of(DataType type);

/// Makes the operation's axes the stage's loops. Attributes of removed axes are dropped with a
/// warning.
void reset_loops(const StageEdit& edit);

/// Throws if a stage is attached to an axis of this one that the rewrite removes.
void check_attached_axes_stay(const StageEdit& edit, std::span<const IterVar> staying);

}  // namespace tenon::te
