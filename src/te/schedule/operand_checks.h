// Checks of expressions that users pass to primitives: factors, offsets, conditions.
#pragma once

#include "te/schedule/stage_edit.h"

namespace tenon::te {

/// Throws unless `e` is constant during a call of the function: it reads no tensor, calls nothing
/// with varying results, and uses no axis of the schedule. `what` describes it: "the factor".
void check_known_at_call(const StageEdit& edit, const IterVar& axis, const Expr& e,
                         const std::string& what);

/// Throws unless the condition can be evaluated at the stage's stores. It may read placeholders of
/// the schedule, which exist in full, but no other tensors.
void check_store_predicate(const StageEdit& edit, const Expr& condition);

/// Throws if the stage's store predicate uses an axis other than `staying`, which the primitive
/// would remove.
void check_predicate_stays(const StageEdit& edit, std::span<const IterVar> staying);

/// Throws unless the value is valid for the pragma's key.
void check_pragma_value(const StageEdit& edit, const IterVar& axis, const std::string& key,
                        const Expr& value);

}  // namespace tenon::te
