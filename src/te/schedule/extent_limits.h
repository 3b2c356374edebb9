// Upper bounds of axes from the constants of a schedule. A new axis whose values may exceed int32
// gets a 64-bit variable, because its type cannot change later.
#pragma once

#include "te/schedule/stage_edit.h"

namespace tenon::te {

/// Returns the maximum extent of the axis for any attachment of the stage; nullopt if it depends on
/// a symbolic size or exceeds int64.
///
///   an axis of 10 iterations, split by 4: 4 for the inner axis, 3 for the outer axis
std::optional<std::int64_t> greatest_extent(const StageSpec& stage, const IterVar& axis);

/// Return the types of the axes that a fusion or split creates: as wide as their parents, and 64
/// bits if the parent's index, computed from them, may exceed int32.
DataType type_of_fused(const StageEdit& edit, const IterVar& outer, const IterVar& inner);
DataType type_of_split(const StageEdit& edit, const IterVar& parent, const Expr& count);

}  // namespace tenon::te
