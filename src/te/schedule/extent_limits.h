// How far axes can count, as far as the constants in a schedule say. A new axis whose values may
// leave int32 gets a variable of 64 bits when it is made: its type cannot change later.
#pragma once

#include "te/schedule/stage_edit.h"

namespace tenon::te {

/// The greatest extent that the axis of the stage can have, wherever the stage is computed; nullopt
/// if a symbolic size has a part in it, or if it is beyond int64.
///
///   axis of 10 iterations, split by 4: 4 for the inner one, 3 for the outer one
std::optional<std::int64_t> greatest_extent(const StageSpec& stage, const IterVar& axis);

/// The types of the axes that a fusion or a split makes: as wide as their parents', and 64 bits
/// where the parent's index, computed from them, may go beyond int32.
DataType type_of_fused(const StageEdit& edit, const IterVar& outer, const IterVar& inner);
DataType type_of_split(const StageEdit& edit, const IterVar& parent, const Expr& count);

}  // namespace tenon::te
