// What the dataflow rewrites (cache_read, cache_write, rfactor) share.
#pragma once

#include "te/relations/propagate.h"
#include "te/schedule/stage_edit.h"

namespace tenon::te {

/// ax0, ax1, ...: one data-parallel axis per dimension.
std::vector<IterVar> numbered_axes(const std::vector<Expr>& shape);

/// Conditions under which the values of root axes, computed from those of the leaves, lie in their
/// ranges; none where that is proved.
std::vector<Expr> guards_of(const StageData& stage, std::span<const IterVar> roots,
                            const AxisRanges& ranges, const AxisValues& values,
                            arith::Facts& facts);

Expr zero_of(DataType type);

/// The stage's loops become its operation's axes again; attributes of axes that are gone are
/// dropped, with a warning.
void reset_loops(const StageEdit& edit);

/// Throws if some stage is attached at an axis of this one that a rewrite will take away.
void check_attached_axes_stay(const StageEdit& edit, std::span<const IterVar> staying);

}  // namespace tenon::te
