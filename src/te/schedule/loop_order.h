// Constraints on the order of a stage's loops. A loop is inside the loops that its range depends
// on. A reducer that depends on the order of its terms keeps the declared order, in which the first
// listed reduction axis is the outermost one.
#pragma once

#include "te/schedule/stage_edit.h"

namespace tenon::te {

/// Throws if, in the given loop order, the range of a reduction axis uses an axis with a loop that
/// is not outside it. Messages name `axis` as the subject.
void check_ranges_are_known(const StageEdit& edit, const IterVar& axis,
                            std::span<const IterVar> loops);

/// Throws if the order of `loops`, outermost first, changes the result of the stage's reduction.
/// `has_partial_results` is whether the terms are combined in partial results, which are combined
/// afterwards, instead of one by one. Only a counterexample counts as a change. Does nothing for a
/// stage without a reduction.
void check_reduction_order(const StageEdit& edit, const IterVar& axis,
                           std::span<const IterVar> loops, bool has_partial_results);

/// Returns the reduction loops in the order in which they combine terms. Loops bound to threads
/// come first, because threads combine the results of their own loops. `bound` is treated like such
/// a loop.
std::vector<IterVar> reduction_loops(const StageSpec& stage, std::span<const IterVar> loops,
                                     const IterVar* bound = nullptr);

// Upper bounds of axes, computed from the constants of a schedule. If the values of a new axis may
// exceed int32, its variable has 64 bits, because the type cannot change later.

/// Returns the maximum extent of the axis for any attachment of the stage; nullopt if it depends on
/// a symbolic size or exceeds int64.
///
///   an axis of 10 iterations, split by 4: 4 for the inner axis, 3 for the outer axis
std::optional<std::int64_t> greatest_extent(const StageSpec& stage, const IterVar& axis);

/// Return the types of the axes that a fusion or split creates. They are at least as wide as the
/// parents. They have 64 bits if the parent's index, which is computed from them, may exceed int32.
DataType type_of_fused(const StageEdit& edit, const IterVar& outer, const IterVar& inner);
DataType type_of_split(const StageEdit& edit, const IterVar& parent, const Expr& count);

}  // namespace tenon::te
