// The infinities with which Min and Max of floats start. TVM 0.9 starts with the largest finite
// numbers and prints them. Printers use this table to reproduce TVM 0.9 text.
#pragma once

#include "tenon/tir/expr.h"

namespace tenon::tir {

/// Returns the finite number that TVM 0.9 text has in place of a node of the table. Returns nullopt
/// for any other node, even if its value is infinite.
std::optional<double> finite_identity(const ExprNode& node);

}  // namespace tenon::tir
