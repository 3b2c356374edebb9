// Expressions that users give to primitives (factors, offsets, conditions): what they may use.
#pragma once

#include "te/schedule/stage_edit.h"

namespace tenon::te {

/// Throws unless `e` has one value throughout a call of the function: it reads no tensor, calls
/// nothing that could give another result, and uses no axis of the schedule. `what`: "the factor".
void check_known_at_call(const StageEdit& edit, const IterVar& axis, const Expr& e,
                         const std::string& what);

/// Throws unless the condition of a stage's stores can be told where they stand: of tensors, it may
/// read placeholders of the schedule, which are there as a whole.
void check_store_predicate(const StageEdit& edit, const Expr& condition);

/// Throws if the stage's store predicate uses an axis that is none of `staying`: the primitive
/// would leave it without a meaning.
void check_predicate_stays(const StageEdit& edit, std::span<const IterVar> staying);

/// Throws unless the value is one that the pragma's key takes.
void check_pragma_value(const StageEdit& edit, const IterVar& axis, const std::string& key,
                        const Expr& value);

}  // namespace tenon::te
