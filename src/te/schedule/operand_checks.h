// Expressions that users give to primitives (factors, offsets, conditions): what they may use.
#pragma once

#include "te/schedule/schedule_data.h"

namespace tenon::te {

/// The first of the axes whose variable the expression uses.
std::optional<IterVar> find_axis_used(const Expr& e, std::span<const IterVar> axes);

/// Throws unless `e` has one value throughout a call of the function: it reads no tensor, calls
/// nothing that could give another result, and uses no axis of the schedule. `what`: "the factor".
void check_known_at_call(std::string_view primitive, const ScheduleData& schedule,
                         const StageData& stage, const IterVar& axis, const Expr& e,
                         const std::string& what, const SourceLocation& where);

/// Throws unless the condition of a stage's stores can be told where they stand: of tensors, it may
/// read placeholders of the schedule, which are there as a whole.
void check_store_predicate(const ScheduleData& schedule, const StageData& stage,
                           const Expr& condition, const SourceLocation& where);

/// Throws if the stage's store predicate uses an axis that is none of `staying`: the primitive
/// would leave it without a meaning.
void check_predicate_stays(std::string_view primitive, const StageData& stage,
                           std::span<const IterVar> staying, const SourceLocation& where);

/// Throws unless the value is one that the pragma's key takes.
void check_pragma_value(const StageData& stage, const IterVar& axis, const std::string& key,
                        const Expr& value, const SourceLocation& where);

}  // namespace tenon::te
