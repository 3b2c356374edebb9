// The infinities from which Min and Max of floats start. TVM 0.9 starts from the largest finite
// numbers, and TVM 0.9 text shows those; printers use this table.
#pragma once

#include "tenon/tir/expr.h"

namespace tenon::tir {

/// Returns the finite number that TVM 0.9 text has for this node; nullopt for any other node,
/// including other infinities.
std::optional<double> finite_identity(const ExprNode& node);

}  // namespace tenon::tir
